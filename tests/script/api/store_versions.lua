-- side: server
-- ticks: 900
-- DataStore: versions hold what a key held.
local function raises(part, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(part, 1, true), err)
end

function onStart()
    local store = DataStore.GetDataStore("saves")
    local key = tostring(42)
    assert(#store:ListVersionsAsync(key) == 0 and store:GetVersionAsync(key, 1) == nil)
    store:SetAsync(key, {coins = 100, items = {"key", "lamp"}})
    store:SetAsync(key, {})
    -- A mistake is put right: what was there before is stored again.
    local versions = store:ListVersionsAsync(key)
    assert(#versions == 2 and versions[1].version == 2 and versions[2].version == 1)
    assert(versions[1].kept and versions[2].kept and versions[2].time <= versions[1].time)
    local before = store:GetVersionAsync(key, versions[2].version)
    assert(before.coins == 100 and before.items[2] == "lamp")
    store:SetAsync(key, before)
    assert(store:GetAsync(key).coins == 100 and #store:GetVersionAsync(key, 2) == 0)
    store:RemoveAsync(key)
    versions = store:ListVersionsAsync(key)
    assert(#versions == 4 and not versions[1].kept and versions[2].kept)
    assert(store:GetVersionAsync(key, 4) == nil and store:GetVersionAsync(key, 3).coins == 100)
    for i = 1, 20 do
        store:IncrementAsync("many", i)
    end
    assert(#store:ListVersionsAsync("many") == 16 and store:ListVersionsAsync("many")[16].version == 5)
    assert(store:GetVersionAsync("many", 4) == nil and store:GetVersionAsync("many", 5) == 15)
    assert(store:GetVersionAsync("many", 20) == 210 and store:GetVersionAsync("many", 21) == nil)
    assert(store:GetVersionAsync("many", math.maxinteger) == nil)
    raises("versions count from 1", store.GetVersionAsync, store, "many", 0)
    raises("version", store.GetVersionAsync, store, "many", "x")
    raises("version", store.GetVersionAsync, store, "many", 1.5)
    raises("key", store.GetVersionAsync, store, "", 1)
    print("done")
end
