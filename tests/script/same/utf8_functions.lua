local s = 'aé漢😀z'
log(utf8.len(s), #s, utf8.codepoint(s, 1, -1)) for p, c in utf8.codes(s) do log(p, c) end
log(utf8.char(97, 233, 28450, 128512), utf8.offset(s, 3), utf8.offset(s, -1), utf8.len('\xff'), pcall(utf8.codepoint, '\xff'))
