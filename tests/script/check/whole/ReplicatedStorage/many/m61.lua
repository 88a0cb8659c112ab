return 61
