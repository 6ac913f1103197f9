-- The everyday log: a schema, inserts, updates, deletes, a transaction and a rollback.
CREATE DATABASE shop;
USE shop;
CREATE TABLE customer (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  email VARCHAR(120) DEFAULT NULL,
  notes TEXT,
  photo BLOB,
  state ENUM('new','active','gone') NOT NULL DEFAULT 'new',
  UNIQUE KEY by_email (email)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE orders (
  id BIGINT NOT NULL PRIMARY KEY,
  customer_id INT UNSIGNED NOT NULL,
  total DECIMAL(12,2) NOT NULL,
  placed DATETIME(3) NOT NULL,
  KEY by_customer (customer_id),
  CONSTRAINT ordered_by FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO customer (name, email, notes, photo) VALUES
  ('Ana', 'ana@example.org', 'first', x'89504e47'), ('Björn', NULL, NULL, NULL), ('Chloé', 'chloe@example.org', '', '');
BEGIN;
INSERT INTO orders VALUES (1, 1, 12.50, '2026-01-02 03:04:05.678'), (2, 1, -0.01, '2026-01-02 03:04:06');
UPDATE customer SET state = 'active' WHERE id = 1;
COMMIT;
UPDATE customer SET notes = CONCAT(notes, ' again') WHERE notes IS NOT NULL;
UPDATE customer SET name = 'Bjørn' WHERE id = 2;
UPDATE orders SET total = total * 2;
BEGIN;
DELETE FROM orders WHERE id = 2;
ROLLBACK;
DELETE FROM orders WHERE id = 2;
DELETE FROM customer WHERE id = 3;
