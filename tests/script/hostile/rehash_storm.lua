-- expect: budget
-- Each new key makes the table count all its slots again.
while true do
    local t = {}
    for i = 1, 512 do t[i] = i end
    for i = 1, 512 do t[i] = nil t[-i] = i t[-i] = nil end
end
