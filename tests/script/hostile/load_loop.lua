-- expect: budget
while true do load('return 1') end
