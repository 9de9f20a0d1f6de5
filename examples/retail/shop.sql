-- A small shop on one day. Every trial works on a separate copy; money is in cents.
CREATE TABLE customers (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, postcode TEXT NOT NULL, credit INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
  id TEXT PRIMARY KEY, product TEXT NOT NULL, variant TEXT NOT NULL, price INTEGER NOT NULL,
  stock INTEGER NOT NULL, final_sale INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE orders (
  id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers, status TEXT NOT NULL, delivered TEXT,
  address TEXT NOT NULL, paid_by TEXT NOT NULL, reason TEXT
);
CREATE TABLE lines (
  id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, item TEXT NOT NULL REFERENCES items,
  price INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'bought'
);
CREATE TABLE refunds (id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, cents INTEGER NOT NULL, to_what TEXT NOT NULL);
CREATE TABLE handed_over (id INTEGER PRIMARY KEY, why TEXT NOT NULL);
CREATE TABLE consents (id INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, action TEXT NOT NULL);

INSERT INTO customers VALUES
  ('C-1', 'tulip@example.com', '1010', 0), ('C-2', 'heron@example.com', '8004', 1500), ('C-3', 'granite@example.com', '4051', 0);
INSERT INTO items VALUES
  ('lamp-brass', 'desk lamp', 'brass', 6900, 4, 0), ('lamp-black', 'desk lamp', 'black', 5900, 9, 0),
  ('kettle-steel', 'kettle', 'steel', 4500, 6, 0), ('teapot-blue', 'teapot', 'blue', 3200, 2, 0),
  ('jacket-green-m', 'rain jacket', 'green M', 12900, 3, 0), ('jacket-blue-s', 'rain jacket', 'blue S', 12900, 5, 0),
  ('jacket-blue-m', 'rain jacket', 'blue M', 12900, 2, 0), ('jacket-red-m', 'rain jacket', 'red M', 12900, 0, 0),
  ('boots-42', 'boots', 'size 42', 15900, 1, 0), ('boots-43', 'boots', 'size 43', 15900, 2, 0),
  ('tent-2', 'tent', 'for two', 21900, 0, 1), ('rug-wool', 'rug', 'wool', 18900, 1, 1);
INSERT INTO orders VALUES
  ('O-1001', 'C-1', 'pending', NULL, 'Ringweg 3, 1010 Wien', 'card', NULL),
  ('O-1002', 'C-1', 'shipped', NULL, 'Ringweg 3, 1010 Wien', 'card', NULL),
  ('O-1003', 'C-1', 'delivered', '2026-05-11', 'Ringweg 3, 1010 Wien', 'card', NULL),
  ('O-2001', 'C-2', 'delivered', '2026-05-04', 'Seestrasse 12, 8004 Zurich', 'card', NULL),
  ('O-2002', 'C-2', 'delivered', '2026-05-15', 'Seestrasse 12, 8004 Zurich', 'transfer', NULL),
  ('O-2003', 'C-2', 'pending', NULL, 'Seestrasse 12, 8004 Zurich', 'card', NULL),
  ('O-3001', 'C-3', 'delivered', '2026-05-09', 'Am Rhein 7, 4051 Basel', 'card', NULL),
  ('O-3002', 'C-3', 'pending', NULL, 'Am Rhein 7, 4051 Basel', 'card', NULL),
  ('O-3003', 'C-3', 'delivered', '2026-03-02', 'Am Rhein 7, 4051 Basel', 'card', NULL);
INSERT INTO lines (id, order_id, item, price) VALUES
  ('O-1001/1', 'O-1001', 'lamp-black', 5900), ('O-1002/1', 'O-1002', 'kettle-steel', 4500),
  ('O-1003/1', 'O-1003', 'lamp-brass', 6900), ('O-1003/2', 'O-1003', 'kettle-steel', 4500), ('O-1003/3', 'O-1003', 'teapot-blue', 3200),
  ('O-2001/1', 'O-2001', 'jacket-green-m', 12900), ('O-2002/1', 'O-2002', 'tent-2', 21900),
  ('O-2003/1', 'O-2003', 'boots-42', 15900),
  ('O-3001/1', 'O-3001', 'jacket-green-m', 12900), ('O-3002/1', 'O-3002', 'teapot-blue', 3200),
  ('O-3003/1', 'O-3003', 'boots-43', 15900);
