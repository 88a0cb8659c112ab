print("a")
-- â‚