-- world: limit
-- More texts, sounds and messages than anybody can listen to.
function onUpdate()
    for _ = 1, 400 do
        Chat.Send("x")
        Sound.Play("x")
        Network.Broadcast("x", 1)
    end
end
