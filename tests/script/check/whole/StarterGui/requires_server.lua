require("ServerScriptService/server_good")
