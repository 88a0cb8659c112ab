-- expect: budget
local mt = {__eq = function() return true end}
local a, b = setmetatable({}, mt), setmetatable({}, mt)
while a == b do end
