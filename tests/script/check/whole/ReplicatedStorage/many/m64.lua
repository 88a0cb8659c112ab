return 64
