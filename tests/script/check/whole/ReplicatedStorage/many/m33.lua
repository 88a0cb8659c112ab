return 33
