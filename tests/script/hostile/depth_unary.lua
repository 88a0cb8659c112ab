-- expect: error
-- steps: 3000000
assert(load('return ' .. ('- '):rep(20000) .. '1'))
