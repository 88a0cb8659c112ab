local = 3
print("never")
