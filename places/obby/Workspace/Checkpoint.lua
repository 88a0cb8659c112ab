-- A green pad: remembers the last checkpoint of a player. Game.lua lets the player start there again.
---@param self Entity
---@param other Entity
function OnTriggerEnter(self, other)
    local player = other.Player
    local stage = self:GetAttribute("stage")
    if player and stage > (player.leaderstats.Stage or 0) then
        player.leaderstats.Stage = stage
        Chat.Send("Checkpoint " .. stage .. "!", player)
    end
end
