return 35
