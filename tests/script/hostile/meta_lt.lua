-- expect: budget
local mt = {__lt = function() return true end, __le = function() return true end}
local a = setmetatable({}, mt)
while a < a and a <= a do end
