for _, v in ipairs {0, -0.0, 1, -1, 0.1, 1/3, 1e15, 1e16, 1e100, 123456.789, 2^53, 2^63, -2^63, 5e-324, 1.7976931348623157e308, 1e-5, 100.0, 3.0, 1e14, 123456789012345.0} do log(v) end
log(1/0, -1/0, 0/0, -(0/0), math.huge, math.pi)
log(math.maxinteger, math.mininteger, 1 << 62)
