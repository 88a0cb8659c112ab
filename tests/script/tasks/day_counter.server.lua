-- Days of the world are counted, announced, and survive a restart as an attribute.
-- ticks: 200
local DAY = 1
local board = World.Find("Wall")
local announced = {}

board:GetAttributeChangedSignal("day"):Connect(function(day)
    local text = ("Day %d begins"):format(day)
    announced[#announced + 1] = text
    Chat.Send(text)
end)

Timer.Every(DAY, function()
    board:SetAttribute("day", (board:GetAttribute("day") or 0) + 1, {persistent = true})
end)

local function is_night()
    return World.Time() % DAY > DAY / 2
end

function onStart()
    local nights = 0
    for _ = 1, 20 do
        task.wait(0.15)
        nights = nights + (is_night() and 1 or 0)
    end
    assert(board:GetAttribute("day") >= 2 and announced[2] == "Day 2 begins", announced[2])
    assert(nights > 5 and nights < 15, nights)
    print("done")
end
