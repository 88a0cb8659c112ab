-- world: bounded
-- Towers that are built and lose the ground, in every tick.
local turn = 0
local standing = {}
function onUpdate()
    turn = turn + 1
    for i = 1, 60 do
        local made, piece = pcall(Structure.Place, 0, Vector3.new(i % 20 - 10, (turn % 4), i // 20))
        if made then
            standing[#standing + 1] = piece
        end
    end
    if turn % 5 == 0 then
        for _, piece in ipairs(standing) do
            if piece:IsValid() then
                pcall(Structure.Remove, piece)
            end
        end
        standing = {}
    end
end
