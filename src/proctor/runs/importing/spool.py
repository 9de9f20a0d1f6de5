"""Temporary storage for runs until they can be written to a store. Memory use does not depend on the number of cases."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from proctor.errors import StoreError
from proctor.schema.results.manifest import PlannedCase
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql.encoding import read_score, read_scores, read_verdict, scores_json, verdict_row

_IN_MEMORY = 1 << 20

_Facts = list[Any]
_Key = tuple[int, int]


class Spool:
    """An anonymous temporary file that is deleted on exit. Use as a context manager."""

    def __init__(self) -> None:
        """Create an empty spool; up to one mebibyte stays in memory."""
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)  # closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # data that could not be written is not needed any more
            self._file.close()

    def end(self) -> int:
        """Return the position of the next part."""
        with _in_words():
            return self._file.seek(0, 2)

    def append(self, facts: Sequence[Any], bodies: Sequence[bytes]) -> None:
        """Append a part.

        Raises:
            StoreError: there is not enough space.
        """
        head = json.dumps([*facts, [len(body) for body in bodies]]).encode()
        with _in_words():
            self._file.write(b"".join((head, b"\n", *bodies)))

    def read(self, at: int, *, whole: bool) -> tuple[_Facts, list[bytes], int]:
        """Return the part at the position `at`, with its bodies only if `whole`, and the position of the next part."""
        with _in_words():
            self._file.seek(at)
            *facts, sizes = json.loads(self._file.readline())
            bodies = [self._file.read(size) for size in sizes] if whole else []
            return facts, bodies, self._file.tell() + (0 if whole else sum(sizes))


class RunSpool:
    """The cases of one run and their records, in a spool that may already contain other runs."""

    def __init__(self, spool: Spool) -> None:
        """Start at the end of the spool. No other run may be added before this one is complete."""
        self._spool = spool
        self._first = self._end = spool.end()

    def add(self, case: PlannedCase, records: Iterable[Record]) -> None:
        """Append the next case with its records.

        Raises:
            StoreError: there is not enough space.
        """
        self._spool.end()
        parts = [_encode(record) for record in records]
        texts = (case.eval_set_id, case.eval_id, case.content_hash, case.place)
        facts = [case.position, texts, [facts for facts, _ in parts]]
        self._spool.append(facts, [body for _, bodies in parts for body in bodies])
        self._end = self._spool.end()

    def planned(self) -> Iterator[PlannedCase]:
        """Yield the cases in the order in which they were added."""
        for (position, texts, _), _ in self._parts(whole=False):
            yield PlannedCase(position, *texts)

    def records(self) -> Iterator[list[Record]]:
        """Yield the records of each case, in the same order."""
        for (position, texts, facts), bodies in self._parts(whole=True):
            yield _decode(position, texts, facts, bodies)

    def _parts(self, *, whole: bool) -> Iterator[tuple[_Facts, list[bytes]]]:
        at = self._first
        while at < self._end:
            facts, bodies, at = self._spool.read(at, whole=whole)
            yield facts, bodies


def _encode(record: Record) -> tuple[_Facts, list[bytes]]:
    """Return a record as a list of facts and its bodies."""
    if isinstance(record, TrialRecord):
        facts = ["trial", record.number, record.attempt, record.failed]
        return facts, [record.evidence, record.case]
    if isinstance(record, ScoreRecord):
        return ["scores", record.number, record.attempt], [scores_json(record.scores)]
    result = record.result
    attempts = {trial.number: trial.attempt for trial in result.trials if trial.attempt}
    return ["verdict", result.outcome.value], [verdict_row(result, attempts).encode()]


def _decode(
    position: int, texts: Sequence[str], facts: Iterable[_Facts], bodies: Iterable[bytes]
) -> list[Record]:
    evidence: dict[_Key, bytes] = {}
    scores: dict[_Key, bytes] = {}
    records: list[Record] = []
    left = iter(bodies)
    for kind, *own in facts:
        body = next(left)
        if kind == "trial":
            number, attempt, failed = own
            evidence[number, attempt] = body
            records.append(TrialRecord(position, number, attempt, body, failed, next(left)))
        elif kind == "scores":
            number, attempt = own
            scores[number, attempt] = body
            by_metric = {name: read_score(row) for name, row in read_scores(body).items()}
            records.append(ScoreRecord(position, number, attempt, by_metric))
        else:
            result = CaseResult(texts[0], texts[1], Outcome(own[0]), place=texts[3])
            read_verdict(result, own[0], body.decode(), evidence, scores)
            records.append(VerdictRecord(position, result))
    return records


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{tempfile.gettempdir()}: cases cannot be put aside there ({error.strerror or error}). Make room, "
            "or name another folder with TMPDIR"
        ) from error
