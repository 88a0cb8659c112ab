-- a​b
local s = "‮"
print(s, "👨‍👩")
