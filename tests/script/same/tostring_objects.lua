local a, b, c = {}, function() end, coroutine.create(print or type)
log(tostring(a), tostring(b), tostring(c), tostring(type))
log(tostring(a) == tostring({}), tostring(a) == tostring(a))
