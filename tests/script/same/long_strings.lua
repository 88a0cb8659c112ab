local a = ('x'):rep(5000)
local t = {[a] = 1, [a .. 'y'] = 2}
log(t[('x'):rep(5000)], t[a .. 'y'], a == ('x'):rep(5000), a < a .. 'y', #(a .. a))
log(pcall(string.rep, 'x', 1 << 21)) log(pcall(function() local s = ('x'):rep(700000) return s .. s end))
