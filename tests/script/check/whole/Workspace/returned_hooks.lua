local M = {}
function M.onStart(self)
    print(self)
end
function M.onTuoch(self)
end
return M
