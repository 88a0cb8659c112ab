-- The shop's window: a button for each thing; the second click cannot be paid.
-- at 20: click 1
-- at 40: click 2
-- at 60: click 1
local messages = {}

local function buy(item)
    local ok, why = Network.Invoke("Buy", item)
    messages[#messages + 1] = ok and "bought " .. item or why
    if #messages == 3 then
        assert(table.concat(messages, ", ") == "bought Sword, too expensive, you have it", messages[3])
        Network.FireServer("Leave")
        print("done")
    end
end

UI.Show(UI.Panel({
    title = "Shop", anchor = "right",
    UI.Button({text = "Sword, 30", OnClick = function() buy("Sword") end}),
    UI.Button({text = "Shield, 50", OnClick = function() buy("Shield") end}),
}))
