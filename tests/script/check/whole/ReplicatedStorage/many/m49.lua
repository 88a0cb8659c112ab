return 49
