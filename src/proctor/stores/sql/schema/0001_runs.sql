-- Runs, what was planned, the evidence, and what was said about it.
--
-- Plain SQL: types and statements that PostgreSQL takes, too. Every row that is read back carries a checksum (crc32)
-- over its key and its content, and runs carry how many rows they have: SQLite would return a flipped bit as it is.

CREATE TABLE schema_versions (
    version INTEGER PRIMARY KEY,
    applied_at DOUBLE PRECISION NOT NULL
);

CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);

INSERT INTO totals (name, value) VALUES ('runs', 0), ('last_run', 0);

-- One line a run. `seq` is the order of creation, whatever the clock said.
CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    created_at DOUBLE PRECISION NOT NULL,
    agent TEXT NOT NULL,
    sets TEXT NOT NULL,
    num_runs INTEGER NOT NULL,
    -- what changes while it is worked on, and its checksum; `trials_sum` is the sum of their positions
    cases INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    trials BIGINT NOT NULL,
    trials_sum BIGINT NOT NULL,
    judgings INTEGER NOT NULL,
    state_crc BIGINT NOT NULL,
    -- who is at work on it, until when, and how many have been before
    holder_host TEXT,
    holder_machine TEXT,
    holder_pid BIGINT,
    holder_started TEXT,
    lease_until DOUBLE PRECISION NOT NULL,
    fence BIGINT NOT NULL,
    crc BIGINT NOT NULL,
    manifest TEXT NOT NULL
);

-- One pass of judging over a run's evidence.
CREATE TABLE judgings (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    -- verdicts by outcome (JSON), and the sum of their positions
    counts TEXT NOT NULL,
    verdicts_sum BIGINT NOT NULL,
    state_crc BIGINT NOT NULL,
    crc BIGINT NOT NULL,
    summary TEXT,
    judging TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE planned (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    crc BIGINT NOT NULL,
    eval_set_id TEXT NOT NULL,
    eval_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    place TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

-- Cases as JSON, once by the hash of their content, across runs. `media`: what was taken out of the body, and where.
CREATE TABLE documents (
    hash TEXT PRIMARY KEY,
    crc BIGINT NOT NULL,
    media TEXT,
    body BYTEA NOT NULL
);

-- Evidence: one attempt at one trial, JSON, compressed where it pays. Never changed.
-- `document`: the case, where this trial brought it along.
CREATE TABLE trials (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    crc BIGINT NOT NULL,
    document TEXT,
    media TEXT,
    evidence BYTEA NOT NULL,
    PRIMARY KEY (run, position, number, attempt)
);

-- What the metrics said about one attempt, in one judging: JSON by metric, compressed where it pays.
CREATE TABLE scores (
    run INTEGER NOT NULL,
    judging INTEGER NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    crc BIGINT NOT NULL,
    scores BYTEA NOT NULL,
    PRIMARY KEY (run, judging, position, number, attempt)
);

-- What a case came to in one judging: JSON, without the scores and the evidence that it rests on.
CREATE TABLE verdicts (
    run INTEGER NOT NULL,
    judging INTEGER NOT NULL,
    position INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    crc BIGINT NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (run, judging, position)
);

-- Images, sounds and files of cases and evidence, once by the hash of their bytes; and which runs need them.
CREATE TABLE media (
    hash TEXT PRIMARY KEY,
    crc BIGINT NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE media_uses (
    run INTEGER NOT NULL,
    media TEXT NOT NULL,
    PRIMARY KEY (run, media)
);
