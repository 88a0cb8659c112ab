-- expect: error
table.sort(coroutine)
setmetatable(table, {__index = {}})
