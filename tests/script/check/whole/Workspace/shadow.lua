local World = 1
local function f(Vector3)
    return Vector3
end
print(f(World))
local print = print
