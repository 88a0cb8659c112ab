-- expect: error
-- steps: 5000000
assert(load(('function() return '):rep(3000) .. '1' .. (' end'):rep(3000)))
assert(load('return ' .. ('function() return '):rep(3000) .. '1' .. (' end'):rep(3000)))
