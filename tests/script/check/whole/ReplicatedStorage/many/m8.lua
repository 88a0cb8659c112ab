return 8
