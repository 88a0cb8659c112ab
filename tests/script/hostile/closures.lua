-- expect: budget
while true do local a, b, c = 1, 2, 3 local f = function() return a + b + c end end
