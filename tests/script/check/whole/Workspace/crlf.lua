print("a")
print(undefined_b)
local = 1
