local function double(n: number): number
    return n * 2
end
print(double(2))
