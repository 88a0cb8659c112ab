local n = 1
local word = if n == 1 then "one" else "many"
print(word)
