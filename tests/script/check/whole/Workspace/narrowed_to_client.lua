Network.FireClient(nil, "x")
