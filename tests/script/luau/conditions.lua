local function pick(a, b) if a then return b else return "none" end end
log(pick(true, 1), pick(false, 1), pick(nil, 1), pick(true, nil), pick(true, false))
log(1, 2)
log("b")
log(nil)
log("w")
log(3, 6)
log("out")
local t = { "one", x = nil, k = 5 }
log(t[1], t.x, t.k)
local function many() return 1, 2, 3 end
log((many()), "end")
log((function(...) if select("#", ...) > 1 then return (...) else return "few" end end)(7, 8))
local calls = 0
local function count(value) calls = calls + 1 return value end
log(count(count(true) and false), calls)
log(true, -1, 3)
local f = function() return "f" end
log(f())
local both = { a = 1 }
log(both.a)
log(
  "two"




)
log("statement")
fault(function()
  local x =
    nil + 1


end)
fault(function()
  local x =
    nil > 1
end)
fault(function()
  local _
  return t.none.x

end)
fault(function()
  return t.none.x




end)
fault(function()
  local _
  return t.none.x


end)
local last
  = nil .. ""
