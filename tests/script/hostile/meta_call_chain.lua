-- expect: budget|error
local f = function() end
for i = 1, 2000 do f = setmetatable({}, {__call = f}) end
while true do pcall(f, table.unpack({}, 1, 200)) end
