return 45
