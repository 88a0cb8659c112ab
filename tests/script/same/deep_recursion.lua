local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
log(depth(10000)) log(pcall(function() local function f() return 1 + f() end return f() end))
log(select(2, pcall(string.gsub, ('a'):rep(300), ('a?'):rep(300) .. ('a'):rep(300), 'x')))
