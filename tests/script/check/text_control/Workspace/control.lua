print("[31m")
