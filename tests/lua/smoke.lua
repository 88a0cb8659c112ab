-- What must print the same everywhere: the parts of Lua whose result could depend on the machine.

-- Closures and upvalues.
local function counter(step)
  local count = 0
  return function() count = count + step return count end
end
local by_two, by_half = counter(2), counter(0.5)
by_two() by_half()
print("closures", by_two(), by_half())

-- Integers wrap, floats do not; division, modulo and shifts keep their signs.
print("integers", math.maxinteger + 1 == math.mininteger, 7 // -2, 7 % -2, -7 // 2, 1 << 63, -1 >> 1)
print("floats", 7 / 2, 7.5 // -2, -7.5 % 2, 2^53, 1e308 * 10, -1e308 * 10, 1 / 3)
print("mixed", 1 == 1.0, 3 | 0, math.type(3), math.type(3.0), math.tointeger(8.0), "10" + 5, 10 .. "")
print("compare", 2^53 == 2^53 + 1, math.maxinteger < 2^63, math.ult(1, -1))
print("format", string.format("%d %5.2f %g %x %q %s", -5, 3.14159, 1e100, 255, "a\nb", {} ~= nil))
print("format", string.format("%.17g %.14g %a", 0.1, 0.1, 1.5))

-- Strings.
local text = ("sandlot "):rep(3)
print("strings", #text, text:upper(), text:find("lot", 5, true), (text:gsub("%a+", "<%0>")))
print("strings", ("%d+"):len(), ("a,b,,c"):gsub(",", ";"), string.pack("<i4z", -2, "x"):byte(1, -1))
for code, char in ("a=1, b=2"):gmatch("(%a)=(%d)") do io_like = (io_like or "") .. code .. char end
print("strings", io_like, utf8.char(228, 8364, 128512), utf8.len("ä€"))

-- Tables: the order of pairs over string keys follows the fixed seed.
local squares, words, names = {}, {}, {}
for i = 1, 100 do squares[i] = i * i end
for _, word in ipairs({ "door", "lift", "coin", "spawn", "ladder", "conveyor", "npc" }) do
  words[word] = #word
end
for name in pairs(words) do names[#names + 1] = name end
print("tables", #squares, squares[100], table.concat(names, " "))
table.sort(names, function(a, b) return a > b end)
print("tables", table.concat(names, " "), select("#", table.unpack(squares, 1, 10)))
local many = {}
for i = 1, 200 do many[i] = (i * 7919) % 211 end
table.sort(many)
print("tables", table.concat(many, ",", 1, 10), many[200])

-- Metatables and goto.
local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Vector) end
Vector.__tostring = function(v) return "Vector " .. v.x end
print("metatables", tostring(setmetatable({ x = 1 }, Vector) + setmetatable({ x = 2.5 }, Vector)))

-- Errors: through several frames, with a value, rethrown, out of a native function, in a coroutine.
local function deep(n)
  if n == 0 then error({ code = 42 }) end
  return deep(n - 1) + 1
end
local ok, problem = pcall(deep, 50)
print("errors", ok, problem.code)
print("errors", pcall(error, "plain", 0))
print("errors", pcall(function() local t = nil; return t.field end))
print("errors", pcall(string.rep))
print("errors", pcall(function() return 1 // 0 end))
print("errors", xpcall(function() error("handled") end, function(m) return "[" .. m .. "]" end))
print("errors", pcall(pcall, error, "nested"))
local caught = 0
for i = 1, 1000 do
  if not pcall(error, i) then caught = caught + 1 end
end
print("errors", caught)
local function overflow() return 1 + overflow() end
local message = select(2, pcall(overflow))
print("errors", message:match("stack overflow"))
do
  local log = {}
  pcall(function()
    local first <close> = setmetatable({}, { __close = function() log[#log + 1] = "first" end })
    local second <close> = setmetatable({}, { __close = function() log[#log + 1] = "second" end })
    error("leave")
  end)
  print("errors", table.concat(log, " "))
end

-- Coroutines, with an error inside one and a yield across pcall.
local generator = coroutine.wrap(function()
  for i = 1, 3 do
    local fine = pcall(function() coroutine.yield(i) error("after " .. i) end)
    assert(not fine)
  end
  return "done"
end)
print("coroutines", generator(), generator(), generator(), generator())
local broken = coroutine.create(function() error("inside") end)
print("coroutines", coroutine.resume(broken))
print("coroutines", coroutine.status(broken), select(2, coroutine.resume(broken)))

-- Compiling at run time, a fixed random sequence, and garbage.
print("load", load("local a, b = ... return a * b")(6, 7), load("return +"))
print("random", math.random(1000), math.random(1000), math.random() < 1)
math.randomseed(7)
print("random", math.random(1 << 40), string.format("%.17g", math.random()))
for i = 1, 20000 do local garbage = { i, tostring(i) } end
collectgarbage()
print("garbage", collectgarbage("count") < 4096)
