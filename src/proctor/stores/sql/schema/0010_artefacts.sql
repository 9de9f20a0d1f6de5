-- Media that are objects outside of the database: in which folder or bucket. An object is written before its row, and its row
-- is deleted with it. A row whose media no run uses is of an object that is deleted next, or is gone already.

CREATE TABLE artefacts (
    hash TEXT PRIMARY KEY,
    crc BIGINT NOT NULL,
    place TEXT NOT NULL
);

-- How often objects were deleted: a writer that finds another number than before its upload writes its objects again.
INSERT INTO totals (name, value) VALUES ('collections', 0);
