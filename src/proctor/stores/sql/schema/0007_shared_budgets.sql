-- The limits that hold for all members of a run together, and what each member has reserved and spent of them. Money is in
-- millionths of a US dollar. What is reserved is at least what is spent: the difference belongs to the member alone.

CREATE TABLE purses (
    run INTEGER PRIMARY KEY,
    max_micros BIGINT,
    max_calls BIGINT,
    max_tokens BIGINT
);

CREATE TABLE purse_parts (
    run INTEGER NOT NULL,
    part INTEGER NOT NULL,
    allotted_micros BIGINT NOT NULL,
    allotted_calls BIGINT NOT NULL,
    spent_micros BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    PRIMARY KEY (run, part)
);
