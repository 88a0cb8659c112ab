-- What ends a call cannot be caught; this one tries.
function onUpdate()
    while true do
        pcall(function()
            while true do end
        end)
    end
end
