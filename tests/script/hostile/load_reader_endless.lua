-- expect: error
assert(load(function() return 'local x = 1 ' end))
