-- expect: budget
while true do string.format('%.99g', 5e-324) end
