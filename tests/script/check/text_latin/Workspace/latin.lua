print("a")
-- café
