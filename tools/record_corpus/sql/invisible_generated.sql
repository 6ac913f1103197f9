CREATE DATABASE shop;
USE shop;
CREATE TABLE t (id INT PRIMARY KEY, seen INT, hidden INT INVISIBLE DEFAULT 7, twice INT GENERATED ALWAYS AS (seen * 2) VIRTUAL,
  thrice INT GENERATED ALWAYS AS (seen * 3) STORED, also_hidden VARCHAR(10) INVISIBLE, last_one INT);
INSERT INTO t (id, seen, last_one) VALUES (1, 10, 100), (2, 20, 200);
INSERT INTO t (id, seen, hidden, also_hidden, last_one) VALUES (3, 30, 33, 'x', 300);
UPDATE t SET seen = 11 WHERE id = 1;
UPDATE t SET hidden = 70, also_hidden = 'y' WHERE id = 2;
DELETE FROM t WHERE id = 3;
