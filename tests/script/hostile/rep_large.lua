-- expect: error
('x'):rep(1 << 40)
