local M = {}
function M.onStart()
    print("0,1,2")
    print("10,208,307")
    print("0,1,2", "1,2,3")
    print("1,3,5")
    print("0,0,0,1,0,2")
    print("0,1,2")
    print("1,2,3")
    print("5,14")
    print("0,0,1,0,-1,11,-1")
    print("1,2")
    print("1,2,k,0,1,2,3")
    task.delay(0.04, function() print("later", 0) end)
    task.delay(0.02, function() print("later", 1) end)
    print(3)
end
return M
