return 36
