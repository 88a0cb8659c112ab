local function bottom(d) if d == 0 then return {} end return {bottom(d - 1), bottom(d - 1)} end
local function check(t) if t[1] then return 1 + check(t[1]) + check(t[2]) end return 1 end
for i = 1, 6 do assert(check(bottom(13)) == 16383) end
