-- Takes all memory that scripts may have, slowly enough to stay within its time.
hoard = {}
function onUpdate()
    pcall(function()
        for _ = 1, 64 do hoard[#hoard + 1] = string.rep("x", 16384) .. #hoard end
    end)
end
