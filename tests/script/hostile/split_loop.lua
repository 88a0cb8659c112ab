-- expect: budget
-- A separator that nearly matches everywhere, again and again.
local text, by = ("a"):rep(500000), ("a"):rep(250000) .. "b"
while true do
    string.split(text, by)
    table.clone(string.split(text:sub(1, 20000), ""))
end
