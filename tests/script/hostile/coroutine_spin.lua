-- expect: budget
local c = coroutine.create(function() while true do end end)
while true do coroutine.resume(c) end
