print(undefined_h)
