-- The bar of the mana, drawn when it changes.
local drawn = {}

function onStart()
    local body = Players.LocalPlayer.Character
    body:GetAttributeChangedSignal("mana"):Connect(function(mana)
        drawn[#drawn + 1] = mana
        UI.Show(UI.Bar({value = mana, max = 50, colour = "#3366ff"}))
    end)
    task.wait(0.3)
    Network.FireServer("Cast", 30)
    task.wait(1.4)
    assert(table.find(drawn, 20) and drawn[#drawn] == 50, table.concat(drawn, " "))
    print("done")
end
