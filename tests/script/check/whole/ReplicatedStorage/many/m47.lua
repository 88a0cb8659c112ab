return 47
