local p = string.pack('<i4>i2 z s1 d f j', -2, 3, 'zero', 'str', 1.5, 0.25, 1 << 40)
log(#p, (p:gsub('.', function(c) return ('%02x'):format(c:byte()) end)))
log(string.unpack('<i4>i2 z s1 d f j', p)) log(string.packsize('!8 i1 i8 l L T'), string.packsize('<!4 i1 !4 i8'))
local function hex(s) return (s:gsub('.', function(c) return ('%02x'):format(c:byte()) end)) end
log(hex(string.pack('<d', 0/0)), hex(string.pack('<d', -(0/0))), hex(string.pack('<f', 0/0)), hex(string.pack('<n', math.huge - math.huge)))
