-- expect: budget
while true do local c <close> = setmetatable({}, {__close = function() end}) end
