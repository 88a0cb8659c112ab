-- A module: server and clients require it, and both see times in the same form.
local Format = {}

function Format.seconds(value)
    return string.format("%.1f s", value)
end

return Format
