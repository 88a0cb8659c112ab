log(7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 % -3, 7.5 // 2, -7.5 % 2, 5 % math.huge, -5 % math.huge)
log(math.maxinteger + 1 == math.mininteger, math.maxinteger * 2, 1 // 0.0, -1 // 0.0, 0.0 / 0.0 ~= 0.0 / 0.0)
log(math.tointeger(3.0), math.tointeger(3.5), math.tointeger('8'), math.ult(1, -1), math.fmod(-7, 3), math.fmod(7.5, 2), math.fmod(1e300, 7))
log(3 | 5, 3 & 5, 3 ~ 5, ~0, 1 << 63, 1 << 64, -1 >> 1, 2.0 | 1)
