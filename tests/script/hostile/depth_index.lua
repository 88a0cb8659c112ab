-- expect: ok
-- steps: 3000000
assert(load('return x' .. ('.x'):rep(10000)))
