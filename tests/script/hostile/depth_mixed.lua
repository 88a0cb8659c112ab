-- expect: error
-- steps: 3000000
-- memory: 8192
-- The dearest frames of the C stack in turns.
local t, f = {}, nil
local way = {
    function() return string.format('%s', t) end,
    function() return (('x'):gsub('x', f)) end,
    function() return table.concat({tostring(t)}) end,
    function() table.sort({2, 1}, f) end,
    function() return coroutine.wrap(f)() end,
    function() local ok, e = pcall(f) error(e, 0) end,
}
local n = 0
function f() n = n + 1 return way[n % #way + 1]() or 'x' end
setmetatable(t, {__tostring = f})
f()
