return 54
