local function A(i, j) local ij = i + j - 1 return 1.0 / (ij * (ij - 1) * 0.5 + i) end
local function Av(x, y, N) for i = 1, N do local a = 0 for j = 1, N do a = a + x[j] * A(i, j) end y[i] = a end end
local function Atv(x, y, N) for i = 1, N do local a = 0 for j = 1, N do a = a + x[j] * A(j, i) end y[i] = a end end
local N, u, v, t = 100, {}, {}, {}
for i = 1, N do u[i] = 1 end
for i = 1, 5 do Av(u, t, N) Atv(t, v, N) Av(v, t, N) Atv(t, u, N) end
