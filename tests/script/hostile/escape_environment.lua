-- expect: ok
local env = {}
assert(load('x = 1', 'n', 't', env))()
assert(env.x == 1 and x == nil)
local outer = load('return _G')()
assert(outer == _G)
local f = load('return _ENV', 'n', 't', {})
assert(f()._G == nil and f().string == nil)
assert(select(2, pcall(load('return string.rep', 'n', 't', {}))):find('nil'))
