local t = {1, 2, 3, 4, 5}
table.insert(t, 6) table.insert(t, 1, 0) log(table.concat(t, ','))
log(table.remove(t), table.remove(t, 1), table.remove(t, 3), table.concat(t, ','))
log(table.concat(table.move(t, 1, 3, 3), ','), table.concat(table.move({1, 2, 3}, 2, 3, 1), ','))
log(#t, table.unpack(t, 2, 4)) log(pcall(table.insert, t, 20, 1)) log(pcall(table.concat, {1, {}, 3}))
