-- expect: error
-- steps: 3000000
assert(load(('do '):rep(5000) .. ('end '):rep(5000)))
