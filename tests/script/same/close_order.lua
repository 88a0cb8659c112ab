do
    local function c(n) return setmetatable({}, {__close = function(_, e) log('close', n, e) end}) end
    local a <close> = c(1)
    local b <close> = c(2)
    for i = 1, 2 do local d <close> = c(10 + i) if i == 2 then break end end
    log(pcall(function() local e <close> = c(3) error('E', 0) end))
end
