local continue, type_ = 1, type
local t = {continue = 2, type = 3}
t.continue = continue
goto next
::next::
if t.type then print(t.continue, type_(t)) end
local function vararg(...) local a = ... if a then return a end end
local s = ("x"):rep(2) .. [[ `a` += 1 ]] -- x += 1
print(s, vararg(1), type "x", 7 // 2)
for i, v in ipairs(t) do print(i, v) end
for k, v in next, t do print(k, v) end
