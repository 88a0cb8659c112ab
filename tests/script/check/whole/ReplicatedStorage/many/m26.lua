return 26
