local function f(...) return select('#', ...), (...), select(-1, ...) end
log(f(1, 2, 3)) log(pcall(f)) log(f(nil, nil))
log(table.unpack({1, 2, nil, 4}, 1, 4)) log(table.pack(f(1, 2)).n)
