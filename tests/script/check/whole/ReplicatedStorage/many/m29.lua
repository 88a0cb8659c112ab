return 29
