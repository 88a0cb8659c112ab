return 21
