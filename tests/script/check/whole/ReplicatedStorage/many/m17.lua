return 17
