log(('%d %5d|%-5d|%05d %x %X %o %c %i %u'):format(42, 42, 42, 42, 255, 255, 8, 65, -7, 7))
log(('%s %10s|%-10s|%.2s'):format('abc', 'abc', 'abc', 'abc'))
log(('%q'):format('a\nb\0c"d\\'), ('%q'):format(1/3), ('%q'):format(math.mininteger))
log(('%s %s %s'):format(nil, true, 1.5), ('%5.1f%%'):format(99.55))
