return 27
