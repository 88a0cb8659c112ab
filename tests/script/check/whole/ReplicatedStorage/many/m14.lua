return 14
