return 51
