-- world: capability
-- Widgets, on the side that has no screen, by a name that a build does not recognise.
local screen = UI
function onUpdate()
    local list = {}
    for i = 1, 1000 do
        list[i] = screen.Text({text = "x"})
    end
    screen.Show(screen.List({children = list}))
end
