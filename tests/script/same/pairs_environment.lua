local names = {}
for k in pairs(_G) do log(k) end
for k in pairs(string) do log(k) end
