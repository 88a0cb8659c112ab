print(undefined_i)
