return 24
