-- expect: error
assert(load(function() return '\27Lua' end, 'x', 'bt'))
