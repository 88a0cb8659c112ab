return 57
