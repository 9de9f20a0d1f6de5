-- What people said of recorded answers, and what judges were found to be worth when held against it.

-- One thing that was labelled: a trial, one of its turns (`turn` from 0; -1: the whole), a rubric in it ('': none).
-- `metric`: the one it is held against; '': any.
CREATE TABLE labels (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    rubric_id TEXT NOT NULL,
    metric TEXT NOT NULL,
    passes INTEGER NOT NULL,
    labelled_at DOUBLE PRECISION NOT NULL,
    note TEXT NOT NULL,
    crc BIGINT NOT NULL,
    PRIMARY KEY (run, position, number, turn, rubric_id, metric)
);

-- They outlive the runs that they rest on: what a judge is worth holds for later ones. `calibration`: JSON.
CREATE TABLE calibrations (
    seq INTEGER PRIMARY KEY,
    metric TEXT NOT NULL,
    crc BIGINT NOT NULL,
    calibration TEXT NOT NULL
);
