local s = 'Hello, World'
log(s:sub(2, 5), s:sub(-5), s:sub(3, 2), s:upper(), s:lower(), s:reverse(), s:len(), s:byte(1, 3), s:rep(2, '-'))
log(('x'):rep(0), ('abc'):rep(3), string.char(72, 105), ('%s'):rep(2):format(1, 2))
log(s:find('o'), s:find('o', 6), s:find('xyz'), s:find('l+'), s:find('.', 1, true), s:find('', 20))
