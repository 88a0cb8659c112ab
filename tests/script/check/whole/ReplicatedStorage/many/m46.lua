return 46
