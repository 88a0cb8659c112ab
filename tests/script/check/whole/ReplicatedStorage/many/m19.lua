return 19
