-- expect: budget|error
local function h(e) return select(2, xpcall(error, h, e)) end
while true do xpcall(error, h, 'x') end
