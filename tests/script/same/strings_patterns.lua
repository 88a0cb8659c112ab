log(('key = value'):match('^(%w+)%s*=%s*(%w+)$'))
for k, v in ('a=1, b=2, c=3'):gmatch('(%w+)=(%w+)') do log(k, v) end
log(('hello world'):gsub('o', '0')) log(('hello'):gsub('', '-')) log(('abc'):gsub('%w', '%0%0', 2))
log(('$name is $age'):gsub('%$(%w+)', {name = 'Bo', age = 5})) log(('abc'):gsub('.', {a = 1, b = false}))
log(('f(a(b)c)d'):match('%b()'), ('THE (quick) fox'):find('%((%a+)%)'), ('  trim  '):match('^%s*(.-)%s*$'))
log(('hello'):find('l', 1, true), ('a.b'):gsub('%.', '%%'), ('x'):match('()'), ('THE END'):gsub('%f[%a]%a+', string.lower))
