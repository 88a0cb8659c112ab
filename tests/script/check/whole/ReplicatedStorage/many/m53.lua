return 53
