-- What judges answered, by a hash of what they were asked and the number of the sample, across runs; and which runs
-- rest on it: with the last of them an answer is forgotten.

CREATE TABLE answers (
    name TEXT PRIMARY KEY,
    crc BIGINT NOT NULL,
    body BYTEA NOT NULL
);

CREATE TABLE answer_uses (
    run INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (run, answer)
);
