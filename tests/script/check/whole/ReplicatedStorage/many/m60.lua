return 60
