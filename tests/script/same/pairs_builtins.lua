local t, names = {}, {}
for k, v in pairs(math) do if type(v) == 'function' then t[v] = k names[#names + 1] = k end end
table.sort(names)
for i, n in ipairs(names) do log(n, t[math[n]]) end
