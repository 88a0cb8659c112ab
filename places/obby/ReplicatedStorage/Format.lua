-- A module: server and clients require it, so that both show times in the same way.
local Format = {}

function Format.seconds(value)
    return string.format("%.1f s", value)
end

return Format
