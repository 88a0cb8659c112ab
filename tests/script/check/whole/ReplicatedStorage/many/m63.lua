return 63
