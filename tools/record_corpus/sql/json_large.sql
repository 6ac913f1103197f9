-- Documents past 64 KiB, whose offsets take four bytes, and strings whose length takes two and three.
CREATE DATABASE shop;
USE shop;
CREATE TABLE documents (id INT PRIMARY KEY, j JSON);
INSERT INTO documents VALUES
  (1, JSON_OBJECT('a', REPEAT('z', 66000), 'b', 70000, 'c', JSON_ARRAY(1, 100000, 'x', NULL, TRUE, -1, 1.5e0), 'd', JSON_OBJECT())),
  (2, JSON_ARRAY(REPEAT('y', 16384), REPEAT('x', 127), REPEAT('w', 128)));
