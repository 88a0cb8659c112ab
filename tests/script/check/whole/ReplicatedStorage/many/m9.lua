return 9
