-- world: error
-- More requests to a store than there may be in one tick.
local store = DataStore.GetDataStore("x")
function onUpdate()
    for i = 1, 1500 do
        task.spawn(function() store:SetAsync("k" .. i, i) end)
    end
end
