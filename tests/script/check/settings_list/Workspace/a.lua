print(undefined_a)
