-- side: client
-- What the page would leave out without a word is an error of the script.
local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
fails('UI.Show: colour must be a text like "#ff8800"', UI.Show, UI.Text({text = "a", colour = "orange"}))
fails('UI.Show: colour must be a text like "#ff8800"', UI.Show, UI.List({{kind = "text", color = "#12345g"}}))
fails("UI.Show: kind must be text, image,", UI.Show, {kind = "buton", text = "a"})
UI.Show({kind = "text", text = "a", color = "#12345f"})
print("done")
