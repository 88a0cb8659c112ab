-- expect: ok
-- Nothing of the host comes out of an error.
local function check(f, ...)
    local ok, e = pcall(f, ...)
    assert(not ok and type(e) == 'string' and not e:find('0x') and not e:find('/work'))
end
check(function() local x = nil; x() end)
check(string.rep)
check(error, 'plain')
check(setmetatable, 1, 2)
