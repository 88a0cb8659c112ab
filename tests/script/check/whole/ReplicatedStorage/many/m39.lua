return 39
