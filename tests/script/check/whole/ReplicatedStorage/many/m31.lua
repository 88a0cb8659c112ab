return 31
