local function place(n, row, cols, d1, d2)
    if row > n then return 1 end
    local count = 0
    for c = 1, n do
        if not cols[c] and not d1[row + c] and not d2[row - c + n] then
            cols[c], d1[row + c], d2[row - c + n] = true, true, true
            count = count + place(n, row + 1, cols, d1, d2)
            cols[c], d1[row + c], d2[row - c + n] = nil, nil, nil
        end
    end
    return count
end
assert(place(8, 1, {}, {}, {}) == 92)
