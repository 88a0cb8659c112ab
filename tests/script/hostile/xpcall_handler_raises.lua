-- expect: budget
while true do xpcall(error, error, 'x') end
