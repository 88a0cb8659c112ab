-- expect: error
-- steps: 3000000
assert(load(('repeat '):rep(5000) .. ('until x '):rep(5000)))
