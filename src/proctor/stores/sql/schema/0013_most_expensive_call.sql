-- The most that a call of any process of a run has cost, in millionths of a US dollar: further calls reserve as much.

ALTER TABLE purses ADD COLUMN dearest_micros BIGINT NOT NULL DEFAULT 0;
