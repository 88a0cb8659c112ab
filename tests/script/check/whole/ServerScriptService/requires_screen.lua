local s = require("ReplicatedStorage/Screen")
return s
