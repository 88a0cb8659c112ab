-- expect: budget
-- steps: 5000000
-- memory: 8192
assert(load('if x then ' .. ('elseif x then '):rep(8000) .. 'end'))
