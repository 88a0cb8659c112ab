return 52
