-- expect: error
rawset(math, 'sin', function() end)
