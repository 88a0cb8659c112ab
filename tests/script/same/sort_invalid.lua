log(pcall(table.sort, {3, 1, 2, 5, 4, 9, 8, 7}, function() return true end))
log(pcall(table.sort, {1, 'x', 2}))
