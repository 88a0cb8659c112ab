return 18
