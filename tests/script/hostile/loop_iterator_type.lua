-- expect: budget
-- A C function as the iterator never gives nil.
for a in type, nil, nil do end
