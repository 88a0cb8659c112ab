-- expect: budget
load(function() while true do end end)
