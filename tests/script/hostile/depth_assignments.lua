-- expect: error
-- steps: 3000000
assert(load(('a,'):rep(1000) .. 'a=1'))
