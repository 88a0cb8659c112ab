local t = {}
while true do t[#t + 1] = ('y'):rep(2000) .. #t end
