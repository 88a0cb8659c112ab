return 43
