"""The limits of a run: what each process that writes it has spent and reserved.

A process reserves an allotment and spends it without a further statement. What it has spent is written with its commits. So the
limits hold for all members of a run, and for the process that resumes it after a kill. A run of one process is part 1 of 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from proctor.stores.base import Allotment, Amounts, Caps, Demand
from proctor.stores.sql.database import Database, Transaction
from proctor.stores.sql.members import members_within

_CAPS = "max_micros, max_calls, max_tokens"
_READ = f"SELECT dearest_micros, {_CAPS} FROM purses WHERE run = ?"  # noqa: S608 - our own columns
_ROWS = (
    "SELECT part, allotted_micros, allotted_calls, spent_micros, calls, tokens FROM purse_parts WHERE run = ?"
)
_RETURN = (
    "UPDATE purse_parts SET allotted_micros = spent_micros, allotted_calls = calls WHERE run = ? AND part = ?"
)
_COUNT_RESERVED = (
    "UPDATE purse_parts SET spent_micros = allotted_micros WHERE run = ? AND part = ? AND spent_micros < allotted_micros",
    "UPDATE purse_parts SET calls = allotted_calls WHERE run = ? AND part = ? AND calls < allotted_calls",
)
_SHARE_PRICE = (
    "UPDATE purses SET dearest_micros = CASE WHEN dearest_micros < ? THEN ? ELSE dearest_micros END "  # noqa: S608 - our own columns
    f"WHERE run = ? RETURNING dearest_micros, {_CAPS}"
)
_MILLION = 1_000_000
_LARGEST = 2**63 - 1
"""The largest BIGINT."""


def read_caps(database: Database, run: int) -> Caps:
    """Return the caps of a run."""
    row = database.row(f"SELECT {_CAPS} FROM purses WHERE run = ?", (run,))  # noqa: S608 - our own columns
    return Caps() if row is None else _caps(*row)


def write_caps(transaction: Transaction, run: int, caps: Caps) -> None:
    """Set the caps of a run. Without any, the run has no allotment."""
    if not caps:
        return
    micros = None if caps.max_cost is None else min(round(caps.max_cost * _MILLION), _LARGEST)
    transaction.execute(
        "INSERT INTO purses (run, max_micros, max_calls, max_tokens) VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE "
        "SET max_micros = excluded.max_micros, max_calls = excluded.max_calls, max_tokens = excluded.max_tokens",
        (run, micros, caps.max_judge_calls, caps.max_tokens),
    )


def _caps(micros: int | None, calls: int | None, tokens: int | None) -> Caps:
    cost = None if micros is None else micros / _MILLION
    return Caps(max_cost=cost, max_judge_calls=calls, max_tokens=tokens)


def claim_allotment(transaction: Transaction, run: int, part: int, parts: int) -> Allotment | None:
    """Return what a part may spend, for the process that takes it.

    What is still reserved was reserved by a process that was killed: `return_rest` was not called. It counts as spent, because
    it is unknown which calls that process made after its last commit.
    """
    row = transaction.execute(_READ, (run,)).fetchone()
    if row is None:
        return None
    dearest, *caps = row
    transaction.execute(
        "INSERT INTO purse_parts (run, part, allotted_micros, allotted_calls, spent_micros, calls, tokens) "
        "VALUES (?, ?, 0, 0, 0, 0, 0) ON CONFLICT (run, part) DO NOTHING",
        (run, part),
    )
    for statement in _COUNT_RESERVED:
        transaction.execute(statement, (run, part))
    rows = _rows(transaction, run)
    own = next(one for one in rows if one.part == part)
    allotment = Allotment(_caps(*caps), parts, lambda: own.spent, dearest=dearest, stored_dearest=dearest)
    allotment.allotted, allotment.others = own.allotted, _sum(one.spent for one in rows if one is not own)
    return allotment


def reload_allotment(database: Database, allotment: Allotment, run: int, part: int = 1) -> None:
    """Read what is reserved: it is unknown whether the last transaction was committed."""
    for row in database.rows(_ROWS, (run,)):
        if row[0] == part:
            allotment.allotted = Amounts(*row[1:3])


def return_rest(transaction: Transaction, run: int, part: int) -> None:
    """Return what a part has reserved and not spent."""
    transaction.execute(_RETURN, (run, part))


def delete_allotment(transaction: Transaction, run: int) -> None:
    """Delete the allotment of a run: it is complete, or its only process ends in order."""
    for table in ("purses", "purse_parts"):
        transaction.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - our own tables


def settle(transaction: Transaction, allotment: Allotment, run: int, part: int = 1, name: str = "") -> None:
    """Write what a part has spent, read what the others have, and reserve what is demanded.

    `name`: that of the store, for messages.
    """
    spent = allotment.spent()
    transaction.execute(
        "UPDATE purse_parts SET spent_micros = ?, calls = ?, tokens = ? WHERE run = ? AND part = ?",
        (*spent, run, part),
    )
    if (demand := allotment.demand) is not None and not allotment.covers(demand):
        _reserve(transaction, allotment, demand, run, part, name)
        return
    if allotment.dearest > allotment.stored_dearest:
        _share_price(transaction, allotment, run)
    if allotment.parts == 1:
        return
    others = transaction.execute(
        "SELECT COALESCE(SUM(spent_micros), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(tokens), 0) FROM purse_parts "
        "WHERE run = ? AND part <> ?",
        (run, part),
    ).fetchone()
    allotment.others = Amounts(*map(int, others))  # the sum of a BIGINT is a Decimal in PostgreSQL


# --- Reservations -----------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """The row of one part."""

    part: int
    allotted: Amounts
    spent: Amounts

    @property
    def held(self) -> Amounts:
        """What other parts cannot spend."""
        return Amounts(*map(max, self.allotted, self.spent))

    @property
    def unspent(self) -> Amounts:
        return Amounts(*(allotment - spent for allotment, spent in zip(self.held, self.spent, strict=True)))


def _rows(transaction: Transaction, run: int) -> list[_Part]:
    rows: list[Any] = transaction.execute(_ROWS, (run,)).fetchall()
    return [_Part(part, Amounts(micros, calls), Amounts(*spent)) for part, micros, calls, *spent in rows]


def _sum(amounts: Iterable[Amounts]) -> Amounts:
    return Amounts(*map(sum, zip(*amounts, strict=True)))


def _share_price(transaction: Transaction, allotment: Allotment, run: int) -> list[int | None]:
    """Let all processes know the most that a call has cost; return the caps.

    Other processes that reserve something wait here until the transaction has ended.
    """
    price = allotment.dearest
    row: list[Any] = transaction.execute(_SHARE_PRICE, (price, price, run)).fetchone()
    allotment.dearest, *caps = row
    allotment.stored_dearest = allotment.dearest
    return caps


def _reserve(
    transaction: Transaction, allotment: Allotment, demand: Demand, run: int, part: int, name: str
) -> None:
    caps = _share_price(transaction, allotment, run)
    members = members_within(transaction, run, name) if allotment.parts > 1 else ()
    living = {member.part for member in members if member.holder is not None}
    rows = _rows(transaction, run)
    own = next(row for row in rows if row.part == part)
    _grant(allotment, demand, caps, own, [row for row in rows if row is not own], living)
    transaction.execute(
        "UPDATE purse_parts SET allotted_micros = ?, allotted_calls = ? WHERE run = ? AND part = ?",
        (*allotment.allotted[:2], run, part),
    )


def _grant(
    allotment: Allotment,
    demand: Demand,
    caps: Sequence[int | None],
    own: _Part,
    others: Sequence[_Part],
    living: Collection[int],
) -> None:
    """Grant what is demanded, or the rest if nothing returns later; otherwise take back what is not needed now.

    Before a price is known, only one process holds money.
    """
    held_by_others = _sum(row.held for row in others)
    allotment.lost = _sum(row.unspent for row in others if row.part not in living)
    allotment.others = _sum(row.spent for row in others)
    held_by_living = _sum(row.unspent for row in others if row.part in living)
    allotted, is_short = list(own.held), not allotment.dearest and held_by_living.micros > 0
    for kind, cap in enumerate(caps[:_RESERVED]):
        if cap is not None and own.held[kind] < (target := demand.target[kind]):
            available = cap - held_by_others[kind]
            is_short |= available < target
            allotted[kind] = granted(available, own.held[kind], target, demand.chunk[kind], allotment.parts)
    allotment.is_rest = is_short and not any(held_by_living)
    # a member that waits holds nothing that another one waits for
    allotment.allotted = demand.floor if is_short and not allotment.is_rest else Amounts(*allotted)


_RESERVED = 2
"""Money and calls are reserved; tokens are only counted."""


def granted(available: int, own: int, target: int, chunk: int, parts: int) -> int:
    """Return the new allotment of a part that has `own` and needs `target`, if the other parts leave `available` to it.

    The less is left, the less is granted in addition to the target: all parts together reserve at most a twentieth of it, so that
    no part reserves what the others need soon, and a kill costs little.
    """
    if available < target:
        return max(own, available)
    return target + min(chunk, (available - target) // (20 * parts))
