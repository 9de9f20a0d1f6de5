-- What a row is: `run`, or `audit`, whose trials are mutants of recorded conversations. Every list of runs leaves audits out.

ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';

-- The kind comes after the manifest in a row: a list reads it here, and no manifest.
CREATE INDEX runs_by_kind ON runs (kind, seq, run_id);
