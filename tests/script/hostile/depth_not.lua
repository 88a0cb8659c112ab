-- expect: error
-- steps: 3000000
assert(load('return ' .. ('not '):rep(10000) .. '1'))
