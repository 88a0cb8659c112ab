print(undefined_j)
