-- expect: error
assert(getmetatable('') == nil)
local mt = getmetatable('x')
mt.__index = nil
