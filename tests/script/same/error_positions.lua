local ok, m = pcall(function()
    local t = {}
    local a =
        t.x.y
end)
log(m)
log(pcall(load('return 1 +', 'chunk') or function() error('no chunk') end))
log(load('x = = 1', '=name')) log(load('for', '@file.lua')) log(load('return "abc', 's'))
