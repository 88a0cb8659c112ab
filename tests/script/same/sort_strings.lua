local t = {}
for w in ('zebra Apple apple \xff \0a banana Zebra aa a ab \x80'):gmatch('%S+') do t[#t + 1] = w end
table.sort(t)
for i, w in ipairs(t) do log(('%q'):format(w)) end
