-- More requests to the store than anybody answers.
local store = DataStore.GetDataStore("storm")
function onUpdate()
    for i = 1, 200 do
        task.spawn(function() store:SetAsync("key" .. i, string.rep("x", 1000)) end)
    end
end
