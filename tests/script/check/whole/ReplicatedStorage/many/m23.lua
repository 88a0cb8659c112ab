return 23
