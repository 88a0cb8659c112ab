-- expect: budget
(''):rep(1 << 50)
