-- expect: error
-- steps: 50000000
-- memory: 16384
local function f()
    local c <close> = setmetatable({}, {__close = function() coroutine.wrap(f)() end})
    error('x')
end
coroutine.wrap(f)()
