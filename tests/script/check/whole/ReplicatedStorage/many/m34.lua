return 34
