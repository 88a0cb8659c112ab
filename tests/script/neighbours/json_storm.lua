-- Numbers whose digits need exact arithmetic, read and written again.
local text = "[" .. ("1.2345678901234567e300,"):rep(2000) .. "1]"
local numbers = Json.Decode("[" .. ("1.2345678901234567e-300,"):rep(500) .. "1]")
function onUpdate()
    for _ = 1, 100 do
        pcall(Json.Decode, text)
        pcall(Json.Encode, numbers)
    end
end
