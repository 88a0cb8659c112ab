-- expect: budget
local function f()
    local c <close> = setmetatable({}, {__close = function() error('again') end})
    error('first')
end
while true do pcall(f) end
