local mt = {}
for _, n in ipairs {'add', 'sub', 'mul', 'div', 'mod', 'pow', 'unm', 'idiv', 'band', 'bor', 'bxor', 'shl', 'shr', 'bnot', 'concat', 'len', 'eq', 'lt', 'le', 'call', 'index'} do
    mt['__' .. n] = function(a, b) log(n, type(a), type(b)) return n end
end
local a, b = setmetatable({}, mt), setmetatable({}, mt)
log(a + 1, 1 - a, a * b, a / 2, a % 2, a ^ 2, -a, a // 1, a & 1, a | 1, a ~ 1, a << 1, a >> 1, ~a, a .. 'x', #a, a == b, a < b, a <= b, a(1), a.x)
