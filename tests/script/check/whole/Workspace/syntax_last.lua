print("a")
print("b")
if true then