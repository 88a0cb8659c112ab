local n = 1
print(`there are {n}`)
