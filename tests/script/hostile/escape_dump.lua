-- expect: error
assert(string.dump == nil)
string.dump(function() end)
