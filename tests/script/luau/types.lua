






local origin
origin = { x = 0, y = 0 }
local a, b, c = 1, nil, { k = { 5 } }
local maker = function(value) return value end
local function sum(first, ...)
  local total = first
  for _, one in ipairs({ ... }) do
    total = total + one
  end
  return total, nil
end
log(origin.x, a, b, c.k[1], maker(3), sum(1, 2, 3))
for i = 1, 2 do log(i) end
for k, v in pairs({ x = 1 }) do log(k, v) end
local function two() return 1, 2 end
log((two()), "one")
log((two()) + 1, (two()) < 5)
local function first(...) return (...), "only" end
log(first(8, 9))
local Class = {}
Class.__index = Class
function Class.new(value)
  return setmetatable({ value = value }, Class)
end
function Class:get(_) return self.value end
log(Class.new(4):get(nil))
local function callback(f, g, h)
  return function() return 1 end
end
log(callback(function() end, nil, function() return function() end end)())
local x = { first = 1, second = { first = 2, second = 3 } }
log(x.second.second, 5 >= 4, 16 >> 2)

local function quick(n) return n end
log(quick(6), quick(7), ("s"):upper())
local type, export = type, "export"
log(type(export), export)






local frozen <const> = 5
local typed


log(frozen, typed)
fault(function(
  value,
  other


)
  return value + 1
end)
local z = nil
  + 1
