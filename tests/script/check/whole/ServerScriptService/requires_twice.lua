local function later()
    return require("ReplicatedStorage/Tols")
end
local a = require("ReplicatedStorage/Tools")
local b = require("ReplicatedStorage/Tools.lua")
return later, a, b
