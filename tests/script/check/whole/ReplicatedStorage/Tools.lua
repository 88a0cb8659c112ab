local tools = {}
function tools.double(x)
    return x * 2
end
return tools
