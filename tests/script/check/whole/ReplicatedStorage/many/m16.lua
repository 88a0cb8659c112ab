return 16
