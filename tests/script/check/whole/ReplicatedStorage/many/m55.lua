return 55
