print("a")


end
