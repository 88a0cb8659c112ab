local n = 10
n = n + 5 log(n)
n = n - 1 log(n)
n = n * 2 log(n)
n = n / 4 log(n)
n = n // 2 log(n)
n = n % 2 log(n)
n = 3 n = n ^ 2 log(n)
local s = "a" s = s .. ("b" .. "c") log(s)
n = 2 n = n * (3 + 4) log(n)

-- The left side is evaluated once.
local calls = 0
local t = { a = { b = 1 }, 7, [5] = 1 }
local function get() calls = calls + 1 return t end
do local a = get().a a.b = a.b + 1 end log(t.a.b, calls)
do local a = get() a[1] = a[1] - 2 end log(t[1], calls)
local function key() calls = calls + 10 return 5, 6 end
do local a, k = get(), (key()) a[k] = a[k] + 41 end log(t[5], calls)
local i = 1
t[i] = t[i] * 3 log(t[i])
t["a"].b = t["a"].b .. "x" log(t.a.b)
;(get()).a.b = 4
do local a = (get()).a a.b = a.b + 1 end log(t.a.b, calls)
t.a
  .b = t.a.b + 1 log(t.a.b)
t.a.b = t.a.b - (function() t.a.c = 9 return 1 end)()
log(t.a.b, t.a.c)

local seen = {}
local proxy = setmetatable({}, {
  __index = function(_, name) seen[#seen + 1] = "get " .. name return 1 end,
  __newindex = function(_, name, value) seen[#seen + 1] = "set " .. name .. " " .. value end,
})
proxy.x = proxy.x + 2
log(table.concat(seen, ", "))

local function many() return 1, 2 end
n = 1
n = n + (many())
log(n)
global_count = 1
global_count = global_count + 1 log(global_count)
fault(function()
  local u = {}
  u.x = u.x + 1
end)
fault(function()
  local a = t.nothing
    .here
    a.at = a.at + 1
end)
fault(function() t[nil] = t[nil] + 1 end)
fault(function()
  t.a[
    t.none.x
  ] = 1
end)
n
= n +
nil
