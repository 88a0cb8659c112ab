print("a")

print(undefined_c)
