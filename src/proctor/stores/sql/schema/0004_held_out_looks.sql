-- Looks at held-out cases: a candidate was tested on them. A row is written before the test, and remains when runs are deleted.
-- `look`: JSON. Rows are numbered from 1; `totals` has their number, so that a lost one is noticed.

CREATE TABLE looks (
    seq INTEGER PRIMARY KEY,
    crc BIGINT NOT NULL,
    look TEXT NOT NULL
);

INSERT INTO totals (name, value) VALUES ('looks', 0);
