-- += in a comment, and "a += 1" in a text, are no assignments
local count = 0
count += 1
