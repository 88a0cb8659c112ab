-- expect: budget
local names, sum = {}, {}
for i = 1, 180 do names[i] = 'a' .. i sum[i] = i end
local code = 'local ' .. table.concat(names, ',', 1, 150) .. '\nwhile true do local f = function() return '
    .. table.concat(names, '+', 1, 60) .. ' end end'
load(code)()
