-- Health and coins on the screen, a name above each thing, and a window that opens and closes.
-- at 30: click 1
-- at 60: click 1
local open = false

local function draw()
    local player = Players.LocalPlayer
    local body = player.Character
    local rows = {
        anchor = "bottom-left",
        UI.Text({text = player.Name, size = 20, color = "#ffffff"}),
        UI.Bar({id = "health", value = body.Health, max = 100, colour = "#cc2222"}),
        UI.Button({text = open and "Close" or "Bag", OnClick = function()
            open = not open
            draw()
        end}),
    }
    if open then
        table.insert(rows, UI.Panel({
            title = "Bag",
            UI.Grid({columns = 4, UI.Text({text = "sword"}), UI.Image({image = "potion"})}),
        }))
    end
    UI.Show(UI.List(rows))
end

function onStart()
    draw()
    local door = World.Find("Door")
    UI.At(door, UI.Text({text = "Door", colour = "#ffcc00"}))
    task.wait(0.8)
    assert(open, "the button was pressed")
    task.wait(0.5)
    assert(not open, "and pressed again")
    UI.At(door)
    UI.Clear()
    print("done")
end
