-- Who gave a label ('': a person without a name). Several people may label the same thing, each once.

ALTER TABLE labels RENAME TO labels_without_people;

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
    labeller TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, position, number, turn, rubric_id, metric, labeller)
);

INSERT INTO labels (run, position, number, turn, rubric_id, metric, passes, labelled_at, note, crc)
SELECT run, position, number, turn, rubric_id, metric, passes, labelled_at, note, crc FROM labels_without_people;

DROP TABLE labels_without_people;
