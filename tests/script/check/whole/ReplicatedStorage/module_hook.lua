local m = {}
function m.onStrat()
end
return m
