for i, v in pairs({ "a", "b", "c" }) do log(i, v) end
local t = { 10, 20, 30 }
for i, v in ipairs(t) do log(i, v) end
local count, sum = 0, 0
for k, v in pairs({ a = 1, b = 2, 3 }) do count = count + 1 sum = sum + v end
log(count, sum)
for k, v in pairs({ only = 1 }) do log(k, v) end
for i, v in ipairs(t) do log(i, v) end
for k, v in next, { only = 2 } do log(k, v) end
for word in string.gmatch("one two", "%a+") do log(word) end
log("x", 1)
log("y", 2)





log("k", "v")

log(1)
log(2)

for _, v in ipairs(t) do if v ~= 20 then log(v) end end
for _ in pairs({}) do log("never") end
local inherited = setmetatable({ own = 1 }, { __index = { other = 2 } })
for k, v in pairs(inherited) do log(k, v) end
local function own(a, i) i = i + 1 if a[i] then return i, a[i] end end
for i, v in own, t, 1 do log(i, v) end

for i, v in ipairs(t) do log(i, v) break end
fault(function()

  for _ in nil do end
end)
fault(function() for _ in 5 do end end)
fault(function()
  for _, v in ipairs(t) do
    log(v .. nil)
  end
end)
for _ in
  nil do end
