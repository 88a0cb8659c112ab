return 38
