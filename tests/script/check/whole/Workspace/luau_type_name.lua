type Point = {x: number, y: number}
local p = 1
