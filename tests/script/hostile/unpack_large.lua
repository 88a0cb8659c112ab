-- expect: budget|error
-- memory: 8192
while true do pcall(table.unpack, {}, 1, 100000) end
