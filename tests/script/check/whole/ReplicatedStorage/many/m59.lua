return 59
