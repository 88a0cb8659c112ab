-- expect: error
('x').rep = nil
