-- expect: budget
-- steps: 5000000
-- memory: 8192
-- Each `or` looks for the end of a list of jumps.
load('return a' .. (' or a'):rep(20000))
