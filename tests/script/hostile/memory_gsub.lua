-- expect: memory|error
-- steps: 20000000
-- memory: 512
('x'):rep(100000):gsub('x', ('y'):rep(1000))
