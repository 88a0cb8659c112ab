-- expect: error
-- steps: 5000000
assert(load(('('):rep(10000) .. '1' .. (')'):rep(10000)))
