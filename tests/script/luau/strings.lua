local name, n = "Ada", 3
log("plain", "", "Ada", "Ada3")
log("Hello " .. name .. ", you have " .. n .. " coins")
log("nested inner Ada deepest 3 end")
log("100% of \"quotes\" and 'quotes' and %d %s")
log("{name} `tick` tab\tend HIA q")
log("a table 3 and a call xxx f")
log("nil nil bool true number 1.5 4.0")
log("many 2 one")
local object = setmetatable({}, { __tostring = function() return "an object" end })
log("an object", 1, "33")
log("first\n" ..
  "second 3\n" ..
  "third")
log("joined \n" ..
"here", "skipped " ..
        "space")
log("" ..
     "here", 'ABC', "q{`", 'it\'s', "a\n" ..
"b")
log("long `{n}` \\q",
"]]")
local tostring = nil
log("still 3")
local t = { ["key 3"] = "value 3" }
log(t["key 3"])
log("big")
fault(function()
  local _
  local x = "text" .. (nil .. "x")
end)
fault(function()
  local s = (
    n +
    nil
  )
end)
fault(function()
  local s = (
    n.x.y
  )
end)
log(n.x.y)
