-- Which runs use a case, an image or an answer of a judge: deleting a run looks up what it used, not the whole store.

CREATE INDEX trials_by_document ON trials (document, run) WHERE document IS NOT NULL;

CREATE INDEX media_uses_by_media ON media_uses (media, run);

CREATE INDEX answer_uses_by_answer ON answer_uses (answer, run);
