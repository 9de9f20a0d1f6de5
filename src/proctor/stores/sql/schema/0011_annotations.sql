-- What people write about a run: its name, a note, a star. It may change, unlike the run.

CREATE TABLE run_annotations (
    run INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    note TEXT NOT NULL,
    starred INTEGER NOT NULL,
    crc BIGINT NOT NULL
);
