-- expect: ok
local mt = {}
local t = setmetatable({}, mt)
mt.__mode = 'v'
t[1] = {}
for i = 1, 2000 do local garbage = {i} end
assert(t[1] ~= nil)
