"""What changes about a run while it is worked on: how far it is, and how many rows it has."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from proctor.stores.database import Connection, damaged
from proctor.stores.encoding import checksum
from proctor.stores.leases import Lease

RUN_COLUMNS = "cases, complete, trials, trials_sum, judgings"
JUDGING_COLUMNS = "complete, verdicts, verdicts_sum, summary"


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
    verdicts: int = 0
    verdicts_sum: int = 0
    """Sum of their positions."""
    summary: str | None = None

    @property
    def crc(self) -> int:
        """Of all of it."""
        key = f"{self.run}/{self.number}/{self.complete}/{self.verdicts}/{self.verdicts_sum}"
        return checksum(key, self.summary or "")

    def write(self, connection: sqlite3.Connection) -> None:
        """Write it."""
        connection.execute(
            "UPDATE judgings SET complete = ?, verdicts = ?, verdicts_sum = ?, summary = ?, state_crc = ? "
            "WHERE run = ? AND number = ?",
            (
                self.complete,
                self.verdicts,
                self.verdicts_sum,
                self.summary,
                self.crc,
                self.run,
                self.number,
            ),
        )


@dataclass(slots=True)
class Hold:
    """A run in hand: the lease and how far everything is."""

    lease: Lease
    run: RunProgress
    judging: JudgingProgress
    decided: set[int]
    """Positions that have a verdict in this judging already."""
    attempts: dict[tuple[int, int], int]
    """By position and number the last attempt, where it is not the first."""


def run_progress(connection: Connection, run: int) -> RunProgress:
    """Read how far a run is.

    Raises:
        StoreError: it is damaged.
    """
    row = connection.row(f"SELECT {RUN_COLUMNS}, state_crc FROM runs WHERE seq = ?", (run,))  # noqa: S608 - our own columns
    found = RunProgress(run, *row[:-1]) if row else None
    if row is None or found is None or found.crc != row[-1]:
        raise damaged(connection.name, "the state of a run does not match its checksum")
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
    found = JudgingProgress(run, number, *row[:-1]) if row else None
    if row is None or found is None or found.crc != row[-1]:
        raise damaged(connection.name, "the state of a judging does not match its checksum")
    return found
