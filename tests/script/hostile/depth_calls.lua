-- expect: ok
-- steps: 3000000
assert(load('return f' .. ('()'):rep(10000)))
