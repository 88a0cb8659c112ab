return 15
