local Shapes = require("ReplicatedStorage/Shapes")
assert(Shapes)

function onStart()
    print("square is 9; dot is 0", 1)
    print(true, false, 8)
    print(9, "square+dot")

    local list = {5, 3, 9, 1}
    local sorted = table.move(list, 1, 4, 1, {})
    table.sort(sorted)
    print(table.concat(sorted, ","), 2, false)
    print(5 + 3 + 9, "3,9")
    print(true, false, 9)
    table.insert(list, 7)
    table.insert(list, 1, 0)
    local taken = {table.remove(list, 2), table.remove(list, 2)}
    local backwards = {}
    for i = #list, 1, -1 do
        backwards[#backwards + 1] = list[i]
    end
    print(table.concat(taken, ","), table.concat(list, ","), #list, table.concat(backwards, ","))
    print(true, 3)

    local text = "Hello, World"
    print(#text, text:upper(), text:sub(1, 5), text:sub(-5), text:sub(5, 5))
    print("Hello|World", (text:gsub("World", "Lua")), text:find("o") - 1)
    print("trim!", "007", ("ab"):rep(3), text:sub(1, 4) == "Hell")
    print("cup=7", "pen=3", 12 + 1)

    task.wait(1)

    print("b2,c3", 2, false, 3, 2)
    print("1 2 3 4", 5, "Blue", "only")

    print("caught", "RangeError / too far")
    local ok, message = pcall(error, "plain", 0)
    print(ok, message, "Error: shown")
    print("none", "string", "object", -2, 8)
    print("pair", 1, 2)
    print("pair", 1, 3)
    print("pair", 2, 2)
    print("blue")
    print("through")
end
