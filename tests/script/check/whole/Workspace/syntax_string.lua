local s = "not closed
print(s)
