print(undefined_e)
