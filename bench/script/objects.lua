local Account = {}
Account.__index = Account
function Account.new(b) return setmetatable({balance = b, log = {}}, Account) end
function Account:deposit(v) self.balance = self.balance + v end
function Account:get() return self.balance end
local list = {}
for i = 1, 200 do list[i] = Account.new(i) end
for r = 1, 400 do for i, a in ipairs(list) do a:deposit(r) end end
local total = 0
for r = 1, 100 do for k, a in pairs(list) do total = total + a:get() end end
