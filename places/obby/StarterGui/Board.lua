-- The best times at the top of the screen.
local Format = require("ReplicatedStorage/Format")

local function show(rows)
    local lines = {anchor = "top", UI.Text({text = "Best times"})}
    if #rows == 0 then
        table.insert(lines, UI.Text({text = "Nobody has finished yet"}))
    end
    for place, row in ipairs(rows) do
        local text = place .. ". " .. row.name .. "  " .. Format.seconds(row.seconds)
        table.insert(lines, UI.Text({text = text}))
    end
    UI.Show(UI.List(lines))
end

Network.OnServerEvent("Board", show) -- after every run

function onStart()
    show(Network.Invoke("Board"))
end
