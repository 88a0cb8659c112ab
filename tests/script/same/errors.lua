local function e(f, ...) log(pcall(f, ...)) end
e(function() local x = nil; return x.y end) e(function() return undefined.field end) e(function() return 1 + {} end)
e(function() return 'a' + 1 end) e(function() return {} .. 'x' end) e(function() return 1 < 'x' end) e(function() return {} < {} end)
e(function() return #5 end) e(function() return -{} end) e(function() local t = {} t[nil] = 1 end) e(function() local t = {} t[0/0] = 1 end)
e(function() return 1 // 0 end) e(function() return 1 % 0 end) e(function() return 2^53 | 1.5 end) e(function() return math.floor({}) end)
e(string.rep) e(string.rep, 'x', -1) e(setmetatable, 1) e(error) e(error, nil) e(error, 'msg', 0) e(error, {1}) e(assert, false) e(assert, nil, 'm') e(assert)
