"""The index of runs: which of them a list has, and which one a name means. Audits are runs of another kind, and left out."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from proctor.common.safe_text import count_text
from proctor.errors import UnknownNameError
from proctor.schema.results.run_result import RunKind
from proctor.stores.base import RunEntry, runs_back
from proctor.stores.sql.database import Database, Transaction, damage_error, has_version, sound

_VERSION_OF_KINDS = 8


def kind_column(database: Database) -> str:
    """Return the column with the kind of a run; an older store, opened for reading, has no audits."""
    return "kind" if has_version(database, _VERSION_OF_KINDS) else f"'{RunKind.RUN}'"


def kind_condition(database: Database, kind: RunKind | None) -> tuple[str, tuple[str, ...]]:
    """Return the condition that leaves audits out of every list of runs, and its values."""
    return ("", ()) if kind is None else (f" AND {kind_column(database)} = ?", (kind.value,))


def set_kind(transaction: Transaction, run: int, kind: RunKind) -> None:
    """Write the kind of a run that was inserted as one of an agent."""
    if kind is not RunKind.RUN:
        transaction.execute("UPDATE runs SET kind = ? WHERE seq = ?", (kind.value, run))


def run_index(database: Database, kind: RunKind | None) -> list[RunEntry]:
    """Return the runs of a kind (`None`: all), newest first, without their long fields; their checksums are not verified."""
    condition, values = kind_condition(database, kind)
    with database.snapshot():
        rows = database.rows(
            f"SELECT run_id, created_at, agent, sets, complete FROM runs WHERE seq > 0{condition} ORDER BY seq DESC",  # noqa: S608 - our own columns
            values,
        )
        check_count(database)
    with sound(database.name, "the list of runs"):
        sets = {text: tuple(json.loads(text)) for text in {row[3] for row in rows}}
        return [
            RunEntry(run_id, created_at, agent, sets[text], bool(complete))
            for run_id, created_at, agent, text, complete in rows
        ]


def find_run(database: Database, store: str, name: str, kind: RunKind | None) -> str:
    """Return the id of the run called `name`: as `Store.find`; `store` is the name of the store in messages.

    Raises:
        UnknownNameError: there is none, or several, or it is of another kind.
    """
    rows = database.rows(f"SELECT seq, run_id, {kind_column(database)} FROM runs")  # noqa: S608 - our own columns
    kinds: dict[str, str] = {run_id: one for _, run_id, one in sorted(rows, reverse=True)}
    if {*kinds.values()} - {*RunKind}:
        raise damage_error(database.name, "the kind of a run cannot be read")
    listed = [run_id for run_id, one in kinds.items() if one == (RunKind.RUN if kind is None else kind)]
    if (back := runs_back(name)) is not None and name not in kinds:
        return _earlier(listed, name, back, store)
    run_id = _match(name, kinds)
    if run_id is None and not listed:
        raise _no_runs_error(store)
    if run_id is None:
        raise UnknownNameError(
            f"No run named {name!r} in {store}. The newest: {_format_ids(listed)}. `proctor runs` lists all"
        )
    if kind not in (None, kinds[run_id]):
        raise UnknownNameError(_other_kind(run_id, kinds[run_id]))
    return run_id


def _match(name: str, ids: Collection[str]) -> str | None:
    """Return the id that is `name`, or the only one that begins with it."""
    found = [name] if name in ids else [run_id for run_id in ids if name and run_id.startswith(name)]
    if len(found) > 1:
        raise UnknownNameError(
            f"{name!r} is the beginning of {len(found)} runs: {_format_ids(found)}. Give more of it"
        )
    return found[0] if found else None


def _earlier(ids: Sequence[str], name: str, back: int, store: str) -> str:
    if not ids:
        raise _no_runs_error(store)
    if back < len(ids):
        return ids[back]
    count = count_text(len(ids), "run")
    raise UnknownNameError(f"No run {name!r}: the store {store} has {count}. `proctor runs` lists them")


def _no_runs_error(store: str) -> UnknownNameError:
    return UnknownNameError(f"{store} has no runs yet")


def _other_kind(run_id: str, kind: str) -> str:
    if kind == RunKind.AUDIT:
        return (
            f"{run_id} is an audit: it has mutants of recorded conversations, and no trials of an agent. Expected a run "
            f"(`proctor runs` lists them); `proctor show {run_id}` shows the audit"
        )
    return f"{run_id} is a run, and an audit is expected: `proctor runs --kind audit` lists them"


def _format_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (" …" if len(ids) > 5 else "")


def check_count(database: Database) -> None:
    """Check that no row of a run is missing, and that each is of a kind that a list can have."""
    known = f"SELECT COUNT(*) FROM runs WHERE {kind_column(database)} IN ({', '.join('?' * len(RunKind))})"  # noqa: S608 - our own columns
    counted = database.row(known, [kind.value for kind in RunKind])
    total = database.row("SELECT value FROM totals WHERE name = 'runs'")
    if total is None or counted is None or total[0] > counted[0]:
        raise damage_error(database.name, "not all runs are there")
