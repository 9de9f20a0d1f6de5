"""Runs put aside until they can be begun in a store: there may be very many cases, and memory stays flat."""

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
from proctor.stores.sqlite.encoding import read_score, read_scores, read_verdict, scores_json, verdict_row

_IN_MEMORY = 1 << 20

_Facts = list[Any]
_Key = tuple[int, int]


class Spool:
    """A file that has no name and ends with this object. Use as a context manager."""

    def __init__(self) -> None:
        """Begin with nothing; up to a mebibyte stays in memory."""
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)  # closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what could not be written is of no use any more
            self._file.close()

    def end(self) -> int:
        """Return where the next part will stand."""
        with _in_words():
            return self._file.seek(0, 2)

    def append(self, facts: Sequence[Any], bodies: Sequence[bytes]) -> None:
        """Write a part behind the others.

        Raises:
            StoreError: there is no room for it.
        """
        head = json.dumps([*facts, [len(body) for body in bodies]]).encode()
        with _in_words():
            self._file.write(b"".join((head, b"\n", *bodies)))

    def read(self, at: int, *, whole: bool) -> tuple[_Facts, list[bytes], int]:
        """Return the part that stands at `at`, `whole` or without its bodies, and where the next one does."""
        with _in_words():
            self._file.seek(at)
            *facts, sizes = json.loads(self._file.readline())
            bodies = [self._file.read(size) for size in sizes] if whole else []
            return facts, bodies, self._file.tell() + (0 if whole else sum(sizes))


class RunSpool:
    """The cases of one run and what is recorded of them, in a spool that others may have written to before."""

    def __init__(self, spool: Spool) -> None:
        """Begin at the spool's end; no other run is put into it before this one is complete."""
        self._spool = spool
        self._first = self._end = spool.end()

    def add(self, case: PlannedCase, records: Iterable[Record]) -> None:
        """Put the next case aside.

        Raises:
            StoreError: there is no room for it.
        """
        self._spool.end()
        parts = [_encoded(record) for record in records]
        texts = (case.eval_set_id, case.eval_id, case.content_hash, case.place)
        facts = [case.position, texts, [facts for facts, _ in parts]]
        self._spool.append(facts, [body for _, bodies in parts for body in bodies])
        self._end = self._spool.end()

    def planned(self) -> Iterator[PlannedCase]:
        """Return the cases, in the order in which they came."""
        for (position, texts, _), _ in self._parts(whole=False):
            yield PlannedCase(position, *texts)

    def records(self) -> Iterator[list[Record]]:
        """Return what is recorded of each case, in the same order."""
        for (position, texts, facts), bodies in self._parts(whole=True):
            yield _decoded(position, texts, facts, bodies)

    def _parts(self, *, whole: bool) -> Iterator[tuple[_Facts, list[bytes]]]:
        at = self._first
        while at < self._end:
            facts, bodies, at = self._spool.read(at, whole=whole)
            yield facts, bodies


def _encoded(record: Record) -> tuple[_Facts, list[bytes]]:
    """A record as a few facts and its bodies."""
    if isinstance(record, TrialRecord):
        facts = ["trial", record.number, record.attempt, record.failed]
        return facts, [record.evidence, record.case]
    if isinstance(record, ScoreRecord):
        return ["scores", record.number, record.attempt], [scores_json(record.scores)]
    result = record.result
    attempts = {trial.number: trial.attempt for trial in result.trials if trial.attempt}
    return ["verdict", result.outcome.value], [verdict_row(result, attempts).encode()]


def _decoded(
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
            found = {name: read_score(row) for name, row in read_scores(body).items()}
            records.append(ScoreRecord(position, number, attempt, found))
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
