function onStart()
    print("in 0; inner 0; between 0; outer 0; after 0; inner 1; outer 1; inner 2; caught two; outer 2; "
        .. "inner 3; outer 3; through")
    print("in 0; inner 0; between 0; outer 0; after 0; inner 1; outer 1; inner 2; caught two; outer 2; "
        .. "returned")
    print("one; round 1; end of 1; round 3; end of 3; end of 4; a function")
    print("other 2; round 1; end of 1; round 3; end of 3; end of 4; a function")
    print("some 1; had 1; had 2; some 3; had 3")
    print("first; awaited 1; next; awaited 2; third; awaited 3; all")
    print(3, 5, 4, 1, 1.0)
    print(nil, 1, 2, "5", 1)
end
