return 62
