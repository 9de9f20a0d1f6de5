"""Batches of requests of LLM judges, in a store."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict

from proctor.stores.judge_batches import StoredBatch
from proctor.stores.sql.database import PACKED_FROM, Database, checksum, pack, sound, unpack
from proctor.stores.sql.leases import Holder, this_process
from proctor.stores.sql.rows import write_answers
from proctor.stores.sql.run_state import RunLine

_AT_ONCE = 500
"""Answers that are written in one transaction."""
_LONGEST_SUBMISSION = 900.0
"""Seconds after which a process of another machine that has not confirmed its submission counts as dead."""


class JudgeBatchStore:
    """The part of a store that has to do with batches of requests of judges."""

    _database: Database

    @abstractmethod
    def _check_writable(self) -> None: ...

    @abstractmethod
    def _line(self, run_id: str) -> RunLine: ...

    def judge_batches(self) -> list[StoredBatch]:
        """Return the batches whose answers are not in the store yet, oldest first."""
        rows = self._database.rows("SELECT id, reference, crc, body, unix_now() FROM judge_batches")
        with sound(self._database.name, "a batch of requests of judges"):
            batches = [_batch_of(*row) for row in rows]
        return sorted(batches, key=lambda batch: (batch.created_at, batch.id))

    def add_judge_batch(self, batch: StoredBatch, known: Collection[str]) -> bool:
        """Record a batch before its submission, unless there is one whose id is not `known`."""
        self._check_writable()
        with self._database.transaction(exclusive=True) as transaction:
            if any(row[0] not in known for row in self._database.rows("SELECT id FROM judge_batches")):
                return False
            transaction.execute(
                "INSERT INTO judge_batches (id, reference, crc, body) VALUES (?, ?, ?, ?)",
                (batch.id, *_row_of(batch)),
            )
        return True

    def update_judge_batch(self, batch: StoredBatch) -> None:
        """Replace the record of a batch, if it is still there. Without keys it is deleted."""
        self._check_writable()
        with self._database.transaction() as transaction:
            if batch.keys:
                transaction.execute(
                    "UPDATE judge_batches SET reference = ?, crc = ?, body = ? WHERE id = ?",
                    (*_row_of(batch), batch.id),
                )
            else:
                transaction.execute("DELETE FROM judge_batches WHERE id = ?", (batch.id,))

    def keep_answers(self, run_id: str, answers: Mapping[str, bytes]) -> None:
        """Store answers of judges that a run uses; they are on disk on return."""
        self._check_writable()
        run = self._line(run_id).seq
        for some in _parts(answers):
            with self._database.transaction() as transaction:
                write_answers(transaction, run, some)


def _parts(answers: Mapping[str, bytes]) -> Iterator[dict[str, bytes]]:
    items = list(answers.items())
    return (dict(items[first : first + _AT_ONCE]) for first in range(0, len(items), _AT_ONCE))


def _row_of(batch: StoredBatch) -> tuple[str, int, bytes]:
    """Return the columns after the id."""
    content = {**asdict(batch), "submitter": asdict(this_process())}
    del content["reference"], content["is_being_submitted"]
    body = pack(json.dumps(content, separators=(",", ":")).encode(), PACKED_FROM)
    return batch.reference, _checksum(batch.id, batch.reference, body), body


def _batch_of(batch_id: str, reference: str, crc: int, body: bytes, now: float) -> StoredBatch:
    if crc != _checksum(batch_id, reference, body):
        raise ValueError(crc)
    content = json.loads(unpack(body))
    submitter, keys = Holder(**content.pop("submitter")), tuple(content.pop("keys"))
    is_recent = now - content["created_at"] < _LONGEST_SUBMISSION
    is_owned = submitter == this_process() or submitter.is_gone()
    is_being_submitted = not reference and is_recent and not is_owned
    return StoredBatch(**content, keys=keys, reference=reference, is_being_submitted=is_being_submitted)


def _checksum(batch_id: str, reference: str, body: bytes) -> int:
    return checksum(f"judge_batch/{batch_id}/{reference}", body)
