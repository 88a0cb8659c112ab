-- expect: budget
-- steps: 3000000
-- Garbage is collected: this runs out of steps, not of memory.
while true do local t = {('x'):rep(1000), {}, function() end} end
