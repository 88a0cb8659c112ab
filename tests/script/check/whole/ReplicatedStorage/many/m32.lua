return 32
