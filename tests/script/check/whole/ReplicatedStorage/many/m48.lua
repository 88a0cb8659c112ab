return 48
