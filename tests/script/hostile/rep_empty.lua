-- expect: ok
-- Copies of nothing cost nothing.
(''):rep(1 << 50)
