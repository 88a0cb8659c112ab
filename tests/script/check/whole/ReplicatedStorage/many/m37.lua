return 37
