Network.FireClient(nil, "early")
