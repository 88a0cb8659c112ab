UI.Show(UI.List({
    anchr = "top",
    UI.Text({txt = "hello", color = "#ff0000"}),
    UI.Text({text = "hello", colour = "#ff0000"}),
    UI.Button({text = "Buy", onClick = function() end}),
}))
Sound.Play("boom", {vol = 1})
World.GetInRadius(Vector3.new(), 5, "Palyer")
World.GetInRadius(Vector3.new(), 5, "Player")
