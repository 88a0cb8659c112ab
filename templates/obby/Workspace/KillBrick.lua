-- Red bricks, and the void below the course: whoever touches one begins again at the last checkpoint.
function OnTriggerEnter(self, other)
    KillPlayer() -- the one who came in
end
