return 28
