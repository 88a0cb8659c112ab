-- side: server
-- ticks: 400
-- Ordered stores: ranges and pages. Equal values stand in the order of their keys; descending is the reverse of ascending.
local function raises(part, f, ...)
    local ok, err = pcall(f, ...)
    assert(not ok and tostring(err):find(part, 1, true), err)
end

local function text(page)
    local out = {}
    for i, entry in ipairs(page) do
        out[i] = entry.key .. "=" .. entry.value
    end
    return table.concat(out, " ")
end

local function all(board, ascending, count, min, max)
    local pages, page = {}, board:GetSortedAsync(ascending, count, min, max)
    while #page > 0 do
        pages[#pages + 1] = text(page)
        page = board:GetSortedAsync(ascending, count, min, max, page[#page])
    end
    return table.concat(pages, " | ")
end

function onStart()
    local board = DataStore.GetOrderedDataStore("scores")
    assert(#board:GetSortedAsync(true, 10) == 0)
    for name, score in pairs({a = 5, b = 9, c = 1, d = 5, e = -7, f = 5}) do
        board:SetAsync(name, score)
    end
    assert(text(board:GetSortedAsync(true, 100)) == "e=-7 c=1 a=5 d=5 f=5 b=9")
    assert(text(board:GetSortedAsync(false, 100)) == "b=9 f=5 d=5 a=5 c=1 e=-7")
    assert(text(board:GetSortedAsync(true, 100, 1, 5)) == "c=1 a=5 d=5 f=5")
    assert(text(board:GetSortedAsync(false, 2, nil, 5)) == "f=5 d=5")
    assert(text(board:GetSortedAsync(true, 100, 6)) == "b=9")
    assert(text(board:GetSortedAsync(true, 100, 2, 4)) == "")
    assert(text(board:GetSortedAsync(true, 1, math.mininteger, math.maxinteger)) == "e=-7")
    assert(all(board, true, 2) == "e=-7 c=1 | a=5 d=5 | f=5 b=9")
    assert(all(board, false, 4) == "b=9 f=5 d=5 a=5 | c=1 e=-7")
    assert(all(board, false, 1, 5, 9) == "b=9 | f=5 | d=5 | a=5")
    -- A page goes on where the one before ended, whatever was written meanwhile.
    local page = board:GetSortedAsync(true, 3)
    board:SetAsync("e", 100)
    board:RemoveAsync("a")
    assert(text(board:GetSortedAsync(true, 3, nil, nil, page[3])) == "d=5 f=5 b=9")
    -- After an entry outside the range the page begins with the range.
    assert(text(board:GetSortedAsync(true, 9, 5, 9, {key = "z", value = -100})) == "d=5 f=5 b=9")
    assert(text(board:GetSortedAsync(true, 9, 5, 9, {key = "z", value = 50})) == "")
    raises("min is greater than max", board.GetSortedAsync, board, true, 5, 3, 2)
    raises("count is between 1 and 100", board.GetSortedAsync, board, true, 101)
    raises("page[#page]", board.GetSortedAsync, board, true, 5, nil, nil, {})
    raises("page[#page]", board.GetSortedAsync, board, true, 5, nil, nil, {key = "", value = 1})
    raises("value must be an integer", board.GetSortedAsync, board, true, 5, nil, nil, {key = "a", value = 1.5})
    raises("max", board.GetSortedAsync, board, true, 5, nil, "x")
    raises("min", board.GetSortedAsync, board, true, 5, 0 / 0)
    print("done")
end
