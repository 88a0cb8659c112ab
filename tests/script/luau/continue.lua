for i = 1, 6 do
  if not (i % 2 == 0) then
  log("odd", i) end
end
local n = 0
while n < 5 do
  n = n + 1
  if n ~= 2 and n ~= 4 then
  local _
  local square = n * n
  log("while", square) end
end
repeat
  local done = n >= 8
  n = n + 1
  if n ~= 7 then
  local late = "late"
  log("repeat", n, late) end
until done
repeat
  n = n + 1
  local _
until n > 10
log(n)
for _, outer in ipairs({ 1, 2, 3 }) do
  for inner = 1, 3 do
    if inner ~= outer then
    log(outer, inner) end
  end
  if outer ~= 2 then
  log("end of", outer) end
end
local function first(list)
  for _, value in ipairs(list) do
    if value >= 0 then
    return value end
  end
end
log(first({ -1, -2, 3 }))
for i = 1, 2 do
  local f = function() for j = 1, 2 do if j ~= i then log("in", i, j) end end end
  f()

end
local fs = {}
for i = 1, 3 do
  if i ~= 2 then
  fs[#fs + 1] = function() return i end end
end
log(fs[1](), fs[2]())
-- A name like others.
local continue = 4
continue = continue + 1
local t = { continue = continue }
log(continue, t.continue)
local function type(x) return x end
log(type(1), type "s")
local export = { type = 2 } export.type = 3 log(export.type)
repeat
  local x = 1


until (function() x = x + 1 return x > 1 end)()
for i = 1, 3 do
  if i ~= 1 then
  local x = nil + i end
end
