-- expect: budget
-- steps: 5000000
-- memory: 8192
-- Each label is compared with all others, and each goto that waits with each label.
local t = {}
for i = 1, 5000 do t[i] = 'goto z' .. i .. ' ::a' .. i .. '::' end
load(table.concat(t, ' '))
