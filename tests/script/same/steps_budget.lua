while true do log('x') end
