-- expect: error
-- steps: 5000000
assert(load('return ' .. ('{'):rep(10000) .. ('}'):rep(10000)))
