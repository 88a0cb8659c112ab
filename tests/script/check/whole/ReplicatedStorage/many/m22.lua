return 22
