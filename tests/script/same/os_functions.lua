log(os.time(), os.clock(), os.difftime(10, 4))
