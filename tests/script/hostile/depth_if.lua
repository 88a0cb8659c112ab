-- expect: error
-- steps: 3000000
assert(load(('if x then '):rep(5000) .. ('end '):rep(5000)))
