"""What changes about a run while it is worked on: how far it is, and how many rows it has."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from proctor.schema.results.run_result import Outcome
from proctor.stores.sqlite.connection import Connection, sound
from proctor.stores.sqlite.encoding import checksum, compact
from proctor.stores.sqlite.leases import Lease

RUN_COLUMNS = "cases, complete, trials, trials_sum, judgings"
JUDGING_COLUMNS = "complete, counts, verdicts_sum, summary"


@dataclass(slots=True)
class RunProgress:
    """How far a run is."""

    run: int
    cases: int = 0
    complete: int = 0
    trials: int = 0
    trials_sum: int = 0
    """Sum of their positions: a row that lost its place is missed."""
    judgings: int = 1

    @property
    def crc(self) -> int:
        """Of all of it."""
        return checksum(
            f"{self.run}/{self.cases}/{self.complete}/{self.trials}/{self.trials_sum}/{self.judgings}"
        )

    def write(self, connection: sqlite3.Connection, lease: Lease, until: float) -> bool:
        """Write it, and hold on to the run `until` then; false when the run is another process's by now."""
        return (
            connection.execute(
                "UPDATE runs SET cases = ?, complete = ?, trials = ?, trials_sum = ?, judgings = ?, state_crc = ?, "
                "lease_until = ? WHERE seq = ? AND fence = ?",
                (
                    self.cases,
                    self.complete,
                    self.trials,
                    self.trials_sum,
                    self.judgings,
                    self.crc,
                    until,
                    self.run,
                    lease.fence,
                ),
            ).rowcount
            == 1
        )


@dataclass(slots=True)
class JudgingProgress:
    """How far a judging is."""

    run: int
    number: int
    complete: int = 0
    counts: str = "{}"
    """Verdicts by outcome, as JSON."""
    verdicts_sum: int = 0
    """Sum of their positions."""
    summary: str | None = None

    @property
    def crc(self) -> int:
        """Of all of it."""
        key = f"{self.run}/{self.number}/{self.complete}/{self.counts}/{self.verdicts_sum}"
        return checksum(key, self.summary or "")

    def by_outcome(self) -> dict[str, int]:
        """Return how many cases were decided, by outcome."""
        found: dict[str, int] = json.loads(self.counts)
        return found

    @property
    def duration(self) -> float:
        """Seconds that were spent on it so far."""
        return float(json.loads(self.summary or "{}").get("duration", 0.0))

    def note_duration(self, seconds: float) -> None:
        """Store the duration so far; a process that is killed cannot store it."""
        self.summary = compact({**json.loads(self.summary or "{}"), "duration": round(seconds, 6)})

    def write(self, connection: sqlite3.Connection) -> None:
        """Write it."""
        connection.execute(
            "UPDATE judgings SET complete = ?, counts = ?, verdicts_sum = ?, summary = ?, state_crc = ? "
            "WHERE run = ? AND number = ?",
            (
                self.complete,
                self.counts,
                self.verdicts_sum,
                self.summary,
                self.crc,
                self.run,
                self.number,
            ),
        )


class Decided:
    """The outcomes of a judging so far, a byte a case."""

    def __init__(self, outcomes: Iterable[tuple[int, str]] = ()) -> None:
        self._codes = bytearray()
        self._counts = [0] * (len(_OUTCOMES) + 1)
        self.positions_sum = 0
        for position, outcome in outcomes:
            self.put(position, outcome)

    def __contains__(self, position: int) -> bool:
        return position < len(self._codes) and self._codes[position] != 0

    def put(self, position: int, outcome: str | None) -> None:
        """Note what a case came to; `None`: it is open again."""
        if position >= len(self._codes):
            self._codes += bytes(position + 1 - len(self._codes))
        before, code = self._codes[position], _CODES[outcome]
        self._codes[position] = code
        self._counts[before] -= 1
        self._counts[code] += 1
        self.positions_sum += position * ((code > 0) - (before > 0))

    def counts(self) -> str:
        """Return how many came to what, as JSON."""
        found = zip(_OUTCOMES, self._counts[1:], strict=True)
        return compact({outcome.value: count for outcome, count in found if count})


_OUTCOMES = tuple(Outcome)
_CODES: dict[str | None, int] = {None: 0, **{outcome.value: i for i, outcome in enumerate(_OUTCOMES, 1)}}


@dataclass(slots=True)
class Hold:
    """A run in hand: the lease and how far everything is."""

    lease: Lease
    run: RunProgress
    judging: JudgingProgress
    decided: Decided
    """What has a verdict in this judging already."""
    attempts: dict[tuple[int, int], int]
    """By position and number the last attempt, where it is not the first."""


def run_progress(connection: Connection, run: int) -> RunProgress:
    """Read how far a run is.

    Raises:
        StoreError: it is damaged.
    """
    row = connection.row(f"SELECT {RUN_COLUMNS}, state_crc FROM runs WHERE seq = ?", (run,))  # noqa: S608 - our own columns
    with sound(connection.name, "the state of a run"):
        found = RunProgress(run, *(row or ())[:-1])
        if row is None or found.crc != row[-1]:
            raise ValueError(row)
    return found


def judging_progress(connection: Connection, run: int, number: int) -> JudgingProgress:
    """Read how far a judging is.

    Raises:
        StoreError: it is damaged.
    """
    row = connection.row(
        f"SELECT {JUDGING_COLUMNS}, state_crc FROM judgings WHERE run = ? AND number = ?",  # noqa: S608 - our own columns
        (run, number),
    )
    with sound(connection.name, "the state of a judging"):
        found = JudgingProgress(run, number, *(row or ())[:-1])
        if row is None or found.crc != row[-1]:
            raise ValueError(row)
    return found
