local s = require("ReplicatedStorage/Secret")
return s
