-- Processes that write one run together: each runs a part of its cases. A member counts only its own rows, so that members
-- do not wait for one another. The totals of the run are the sums of these rows until the last member has ended: then they
-- are added to `runs` and `judgings`, and deleted.

CREATE TABLE members (
    run INTEGER NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    -- ready to begin: no member calls the agent before all are. `refusal`: why it cannot be part of this run
    ready INTEGER NOT NULL,
    refusal TEXT NOT NULL,
    -- what it has written so far; `trials_sum` and `verdicts_sum` are sums of positions
    complete INTEGER NOT NULL,
    trials BIGINT NOT NULL,
    trials_sum BIGINT NOT NULL,
    counts TEXT NOT NULL,
    verdicts_sum BIGINT NOT NULL,
    summary TEXT,
    crc BIGINT NOT NULL,
    -- which process it is, until when, and how many have been before
    holder_host TEXT,
    holder_machine TEXT,
    holder_pid BIGINT,
    holder_started TEXT,
    lease_until DOUBLE PRECISION NOT NULL,
    fence BIGINT NOT NULL,
    PRIMARY KEY (run, part)
);
