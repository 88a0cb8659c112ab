return 56
