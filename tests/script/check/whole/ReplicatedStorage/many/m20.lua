return 20
