-- expect: ok
local function bare(v) return not tostring(v):find('0x') end
assert(bare({}) and bare(function() end) and bare(type) and bare(coroutine.create(type)))
assert(not pcall(string.format, '%p', {}))
