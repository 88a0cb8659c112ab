-- side: both
-- Texts that leave a script are checked where it says them; chat is cleaned.
local function refused(want, call, ...)
    local ok, why = pcall(call, ...)
    assert(not ok and why:find(want, 1, true), tostring(why))
end

local zero = "must not contain a zero byte"
refused("Sound.Play: argument 1 (name) " .. zero, Sound.Play, "a\0b")
refused("Sound.Play: argument 1 (name) must be valid UTF-8", Sound.Play, "a\xff")
refused("Sound.Play: argument 1 (name) must have 1 to 128 bytes", Sound.Play, ("x"):rep(129))
refused("Sound.Play: argument 1 (name) must have 1 to 128 bytes", Sound.Play, "")
refused("Network.Declare: argument 1 (name) " .. zero, Network.Declare, "a\0b", {})
local isServer = pcall(Network.OnClientEvent, "x", print)
local listen = isServer and Network.OnClientEvent or Network.OnServerEvent
refused("argument 1 (name) " .. zero, listen, "a\0b", print)
if not isServer then
    refused("Network.FireServer: argument 1 (name) " .. zero, Network.FireServer, "a\0b")
    refused("Network.Invoke: argument 1 (name) must be valid UTF-8", Network.Invoke, "\xff")
    Network.FireServer("any bytes", "a\0b\xff", {["\0"] = "\xff"})
end
Chat.Send("a\0b\xff\n")
Chat.Send("\0")
Chat.Send("")
Chat.Send(("long "):rep(10000))
Log.Info("a\0b\xff")
assert(World.Find("a\0b") == nil and #World.GetTagged("\xff") == 0)
print("done")
