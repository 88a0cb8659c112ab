local text = ('The quick brown fox jumps over the lazy dog 12345 times; key = value, other = 99. '):rep(40)
for i = 1, 12 do
    local words = 0
    for w in text:gmatch('%a+') do words = words + 1 end
    local r = text:gsub('(%w+) = (%w+)', '%2 = %1')
    r = r:gsub('%d+', function(d) return d + 1 end)
    assert(r:find('lazy%s+dog') and not r:find('absent phrase', 1, true))
    for k, v in text:gmatch('(%w+)%s*=%s*(%w+)') do words = words + #k + #v end
end
