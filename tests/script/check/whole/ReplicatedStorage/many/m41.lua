return 41
