log(xpcall(function() error('a') end, function(m) return m .. '!' end))
log(xpcall(function() error('a') end, function(m) error('b') end))
log(xpcall(function(...) return ... end, log, 1, 2, 3))
