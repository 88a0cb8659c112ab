-- world: capability
-- Widgets, on the side that has no screen.
function onUpdate()
    local list = {}
    for i = 1, 1000 do
        list[i] = UI.Text({text = "x"})
    end
    UI.Show(UI.List({children = list}))
end
