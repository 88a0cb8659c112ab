	print("a")
		print(undefined_g)

