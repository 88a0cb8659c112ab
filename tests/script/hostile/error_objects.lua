-- expect: budget
while true do pcall(error, {}) pcall(error, 'text', 2) pcall(error) end
