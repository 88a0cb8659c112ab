-- expect: error
setmetatable({}, {__mode = 'k'})
