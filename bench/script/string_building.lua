local parts = {}
for i = 1, 30000 do
    parts[#parts + 1] = 'item ' .. i .. ', '
    if i % 1000 == 0 then parts = {table.concat(parts):sub(1, 200)} end
end
local s = ''
for i = 1, 3000 do s = s .. 'x' end
for i = 1, 20000 do local t = ('%d:%s'):format(i, 'name') .. tostring(i):upper() end
