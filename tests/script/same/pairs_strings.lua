local t = {}
for w in ('the quick brown fox jumps over the lazy dog and runs away from all of it'):gmatch('%a+') do t[w] = #w end
for k, v in pairs(t) do log(k, v) end
