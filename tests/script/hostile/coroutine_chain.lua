-- expect: budget
local function chain(n)
    if n == 0 then return function() coroutine.yield() end end
    local inner = coroutine.wrap(chain(n - 1))
    return function() inner() coroutine.yield() end
end
while true do pcall(coroutine.wrap(chain(20))) end
