-- expect: budget
while true do coroutine.create(function() end) end
