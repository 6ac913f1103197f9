-- Column types only MariaDB has.
USE shop;
CREATE TABLE addresses (id INT PRIMARY KEY, a4 INET4, a6 INET6, u UUID, j JSON);
INSERT INTO addresses VALUES
  (1, '192.0.2.1', '2001:db8::1', '123e4567-e89b-12d3-a456-426655440000', '{"a": 1}'),
  (2, '255.255.255.255', '::ffff:192.0.2.1', 'ffffffff-ffff-ffff-ffff-fffffffffffe', '[1, "é"]'), (3, NULL, NULL, NULL, NULL),
  (4, '0.0.0.0', '::', '00000000-0000-0000-0000-000000000000', 'null');
UPDATE addresses SET a4 = '10.0.0.1', a6 = 'fe80::', u = '00112233-4455-6677-8899-aabbccddeeff' WHERE id = 3;
DELETE FROM addresses WHERE id = 4;
CREATE TABLE squeezed (
  id INT PRIMARY KEY, v VARCHAR(1000) COMPRESSED, vs VARCHAR(100) COMPRESSED CHARACTER SET utf8mb4, t TEXT COMPRESSED, vb VARBINARY(1000) COMPRESSED,
  b BLOB COMPRESSED, tt TINYTEXT COMPRESSED, lb LONGBLOB COMPRESSED
);
INSERT INTO squeezed VALUES
  (1, REPEAT('squeeze ', 100), 'short', REPEAT('text ', 500), REPEAT(x'00ff', 400), REPEAT(x'01', 3000), 'tiny', REPEAT('long', 1000)),
  (2, '', '', '', '', '', '', ''), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 'é', 'naïve', 'a', x'00', x'ff', 'b', 'c');
UPDATE squeezed SET t = REPEAT('changed ', 200), v = 'small' WHERE id IN (1, 3);
DELETE FROM squeezed WHERE id = 2;
