-- Whoever sinks to the bottom of the sea begins again on the beach.
function OnTriggerEnter(self, other)
    KillPlayer()
end
