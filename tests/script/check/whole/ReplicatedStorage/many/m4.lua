return 4
