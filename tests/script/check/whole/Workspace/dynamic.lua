local g = _G
g["a" .. "b"] = 1
print(undefined_name)
