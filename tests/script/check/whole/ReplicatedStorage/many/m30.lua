return 30
