return 13
