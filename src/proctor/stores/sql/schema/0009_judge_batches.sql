-- Requests of LLM judges that were submitted to a provider as one batch. A row is written before the submission and deleted
-- when the answers are in `answers`. `reference`: the provider's id of the batch; empty until the provider has confirmed it.

CREATE TABLE judge_batches (
    id TEXT PRIMARY KEY,
    reference TEXT NOT NULL,
    crc BIGINT NOT NULL,
    body BYTEA NOT NULL
);
