-- expect: ok
for _, name in ipairs {'io', 'debug', 'package', 'require', 'dofile', 'loadfile', 'collectgarbage',
    'print', 'warn', 'loadstring', 'newproxy', 'getfenv', 'setfenv', 'module', 'unpack'} do
    assert(_G[name] == nil, name)
end
for _, name in ipairs {'execute', 'exit', 'getenv', 'remove', 'rename', 'tmpname', 'date', 'setlocale'} do
    assert(os[name] == nil, name)
end
assert(coroutine.close == nil and string.dump == nil)
