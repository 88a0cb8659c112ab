-- expect: error
-- steps: 3000000
assert(load('return 1' .. ('^1'):rep(10000)))
