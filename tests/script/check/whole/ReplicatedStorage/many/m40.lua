return 40
