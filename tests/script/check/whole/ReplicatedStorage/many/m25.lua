return 25
