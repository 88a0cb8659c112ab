return 58
