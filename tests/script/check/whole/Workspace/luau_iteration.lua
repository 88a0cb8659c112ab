local list = {1, 2}
for i, value in list do
    print(i, value)
end
for _, player in Players.GetPlayers() do
    print(player)
end
