-- Column types only MySQL has.
USE shop;
CREATE TABLE documents (id INT PRIMARY KEY, j JSON);
INSERT INTO documents VALUES
  (1, 'null'), (2, 'true'), (3, 'false'), (4, '0'), (5, '-1'), (6, '32767'), (7, '32768'), (8, '-2147483648'), (9, '2147483648'),
  (10, '9223372036854775807'), (11, '18446744073709551615'), (12, '-9223372036854775808'), (13, '1.5'), (14, '1e300'), (15, '""'),
  (16, '"añ😀\\"\\\\\\n\\u0001"'), (17, '[]'), (18, '{}'), (19, '[1, "two", null, true, [3, {"four": 4.0}]]'),
  (20, '{"b": 1, "a": {"nested": [1, 2, 3]}, "": 0, "longer key": "value"}'), (21, NULL), (22, JSON_ARRAY(REPEAT('x', 130))),
  (23, JSON_ARRAY(REPEAT('y', 300)));
CREATE TABLE opaque (id INT PRIMARY KEY, j JSON);
INSERT INTO opaque VALUES
  (1, CAST(CAST('2026-02-28' AS DATE) AS JSON)), (2, CAST(CAST('23:59:58.123456' AS TIME(6)) AS JSON)),
  (3, CAST(CAST('2026-02-28 23:59:58.5' AS DATETIME(6)) AS JSON)), (4, CAST(TIMESTAMP('2026-02-28 01:02:03') AS JSON)),
  (5, CAST(CAST(-12345.678901 AS DECIMAL(20,6)) AS JSON)), (6, JSON_ARRAY(1.1, -0.01, 99999999999999999999)),
  (7, JSON_OBJECT('blob', x'00ff', 'bit', b'101')), (8, JSON_ARRAY(CAST('-12:00:00' AS TIME))), (9, CAST(CAST(2026 AS YEAR) AS JSON)),
  (10, JSON_OBJECT('point', ST_GeomFromText('POINT(1 2)'))), (11, JSON_ARRAY(CAST(5 AS UNSIGNED)));
UPDATE documents SET j = JSON_SET(j, '$.b', 2) WHERE id = 20;
DELETE FROM documents WHERE id IN (1, 19);
CREATE TABLE places (id INT PRIMARY KEY, p POINT NOT NULL SRID 4326, q POINT SRID 0, g GEOMETRYCOLLECTION);
INSERT INTO places VALUES (1, ST_GeomFromText('POINT(52.5 13.4)', 4326), ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('GEOMETRYCOLLECTION EMPTY'));
UPDATE places SET p = ST_GeomFromText('POINT(48.1 11.5)', 4326);
CREATE TABLE embeddings (id INT PRIMARY KEY, v VECTOR(3), w VECTOR);
INSERT INTO embeddings VALUES (1, TO_VECTOR('[1,2.5,-3]'), TO_VECTOR('[0.1]')), (2, NULL, NULL), (3, TO_VECTOR('[1e30,-1e-30,0]'), NULL);
UPDATE embeddings SET v = TO_VECTOR('[4,5,6]') WHERE id = 2;
DELETE FROM embeddings WHERE id = 3;
