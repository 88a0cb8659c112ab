-- Red bricks, and the void below the course: a player who touches one starts again at the last checkpoint.
function OnTriggerEnter(self, other)
    KillPlayer() -- the player who touched it
end
