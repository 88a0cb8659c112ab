local Base = {} Base.__index = Base
function Base.new(x) return setmetatable({x = x}, Base) end
function Base:show() return 'base ' .. self.x end
local Derived = setmetatable({}, {__index = Base}) Derived.__index = Derived
function Derived:more() return self:show() .. '+' end
local d = setmetatable(Base.new(3), Derived)
log(d:show(), d:more(), getmetatable(d) == Derived, rawget(d, 'show'), rawequal(d, d), rawlen({1, 2}))
