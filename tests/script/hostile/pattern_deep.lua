-- expect: error
('a'):rep(1000):find(('a?'):rep(500) .. ('a'):rep(500))
