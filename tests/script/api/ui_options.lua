-- side: client
-- Both spellings of colour, and widgets as children.
local text = UI.Text({text = "a", color = "#ff8800"})
assert(text.colour == "#ff8800" and text.color == nil and text.kind == "text")
assert(UI.Text({text = "a", colour = "#ff8800"}).colour == "#ff8800")
assert(UI.Bar({value = 1, color = "#ff8800"}).colour == "#ff8800")

local list = UI.List({UI.Text({text = "first"}), children = {text, UI.Text({text = "last"})}})
assert(#list == 3 and list[2] == text and list[3].text == "last" and list.children == nil)
UI.Show(list)

local function fails(message, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end
fails('UI.Text has no option "txt"; did you mean "text"?', UI.Text, {txt = "a"})
fails('UI.Button has no option "onClick"; did you mean "OnClick"?', UI.Button, {text = "a", onClick = print})
fails("UI.List: children must be a table, got number", UI.List, {children = 5})
fails("UI.List: anchor cannot be", UI.List, {anchor = "topp"})
fails("UI.Text: colour must be a string, got number", UI.Text, {text = "a", color = 5})

-- Nothing of this ends the script.
local own = {}
own.children = own
UI.List(own)
local many = {}
for i = 1, 3000 do
    many[i] = text
end
fails("widgets", UI.Show, UI.List({children = many}))
UI.Clear()
print("done")
