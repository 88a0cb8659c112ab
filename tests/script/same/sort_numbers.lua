local t, s = {}, 7
for i = 1, 300 do s = s * 1103515245 + 12345 & 0x7fffffff t[i] = s % 1000 end
table.sort(t)
log(table.concat(t, ' '))
