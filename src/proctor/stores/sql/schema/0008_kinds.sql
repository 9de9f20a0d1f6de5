-- What a row is: `run`, or `audit`, whose trials are mutants of recorded conversations. Every list of runs leaves audits out.

ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
