-- A class in a module that both sides use.
local Inventory = {}
Inventory.__index = Inventory

function Inventory.new(slots)
    return setmetatable({slots = slots, items = {}}, Inventory)
end

function Inventory:add(item, count)
    if not self.items[item] and self:used() >= self.slots then
        return false
    end
    self.items[item] = (self.items[item] or 0) + (count or 1)
    return true
end

function Inventory:used()
    local used = 0
    for _ in pairs(self.items) do
        used = used + 1
    end
    return used
end

return Inventory
