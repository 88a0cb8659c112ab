-- expect: error
for k in pairs(string) do string[k] = nil end
