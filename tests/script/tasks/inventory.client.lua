-- The client asks for things, and shows its own copy.
local Inventory = require("ReplicatedStorage/inventory")
local shown = Inventory.new(2)

function onStart()
    task.wait(0.1)
    for _, item in ipairs({"apple", "wood", "apple", "stone"}) do
        local ok, items = Network.Invoke("Pick", item)
        assert(ok == (item ~= "stone"), item)
        shown.items = items
    end
    assert(shown:used() == 2 and shown.items.apple == 4)
    print("done")
end
