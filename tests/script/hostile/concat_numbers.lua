-- expect: budget
while true do local s = 1.5 .. 2.5 .. 3.5 end
