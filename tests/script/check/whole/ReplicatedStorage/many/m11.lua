return 11
