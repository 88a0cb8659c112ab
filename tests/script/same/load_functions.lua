log(load('return 1 + 1')()) log(load('return ...', 'n', 't')(5)) log(load(function() return nil end))
local parts, i = {'return ', '4', '2'}, 0
log(load(function() i = i + 1 return parts[i] end)())
log(load('\27Lua')) log(load('x = 5', 'n', 't', {})) log(pcall(load('return missing.x', '=m')))
