return 44
