"""The runs that are kept, one line each: a table on a terminal, plain lines elsewhere, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, TextIO

from proctor.common.safe_text import clean, clean_json, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.cost_text import cost_text
from proctor.reports.content.summary import duration
from proctor.reports.terminal.choose import is_terminal
from proctor.reports.terminal.symbols import WORDS
from proctor.schema.results.manifest import RunRecord, RunState
from proctor.schema.results.run_result import Outcome

SHORTEST = 6
"""Characters of an id that are shown at least, so that it stays unambiguous for a while."""

_COMMIT = 9
_TOLD = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list."""

    run: RunRecord
    short: str
    """The beginning of its id that no other run shares."""
    commit: str | None = None
    """The git commit that its agent was at."""
    imported_from: str = ""
    """The result file that it came from; empty for one that was carried out here."""


def short_ids(run_ids: Sequence[str]) -> dict[str, str]:
    """Return for every id the shortest beginning, of six characters at least, that no other one shares."""
    ordered = sorted(run_ids)
    shared = [_shared(one, other) for one, other in pairwise(ordered)]
    return {
        one: one[: max(SHORTEST, before + 1, after + 1)]
        for one, before, after in zip(ordered, [0, *shared], [*shared, 0], strict=False)
    }


def _shared(one: str, other: str) -> int:
    """Count the characters that two ids begin with alike."""
    both = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in both if a != b), min(len(one), len(other)))


def write_list(
    runs: Sequence[ListedRun], out: TextIO, *, more: int = 0, options: ReportOptions = DEFAULTS
) -> None:
    """Write `runs` in the form that suits `out`; `more` is how many there are beyond these."""
    if is_terminal(out):
        from proctor.reports.terminal.run_list import draw_list

        draw_list(runs, out, more=more, options=options)
        return
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(runs, more))


def write_json(runs: Iterable[ListedRun], out: TextIO) -> None:
    """Write `runs` as one JSON object, a run on each line, as they come."""
    out.write('{"runs": [')
    for index, listed in enumerate(runs):
        out.write(",\n" if index else "\n")
        out.write(clean_json(json.dumps(as_data(listed), ensure_ascii=False, allow_nan=False)))
    out.write("\n]}\n")


def as_data(listed: ListedRun) -> dict[str, Any]:
    """Return what there is to say of a run in a list, as JSON."""
    run = listed.run
    return {
        "run_id": run.run_id,
        "state": run.state.value,
        "created_at": run.created_at,
        "agent": run.agent,
        "commit": listed.commit,
        "imported_from": listed.imported_from or None,
        "sets": list(run.sets),
        "cases": run.cases,
        "num_runs": run.num_runs,
        "judgings": run.judgings,
        "judging": run.judging,
        **run.summary.model_dump(mode="json"),
    }


# --- words that the table has, too --------------------------------------------------------------------------------------


def how_it_stands(run: RunRecord) -> str:
    """Return how a run ended, or that it has not: `failed`, `running`, `unfinished`."""
    if run.state is RunState.FINISHED and run.summary.outcome is not None:
        return WORDS[run.summary.outcome]
    return run.state.value


def told_counts(run: RunRecord) -> list[tuple[Outcome, int]]:
    """Return how many cases ended how; those that were not reached follow from the number of cases."""
    return [(outcome, count) for outcome in _TOLD if (count := run.summary.counts.get(outcome.value))]


def when(seconds: float) -> str:
    """Return a time on the clock here: `2026-11-22 14:02`."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def short_commit(commit: str | None) -> str:
    """Return the beginning of a commit, with the `+` of a changed folder."""
    if not commit:
        return ""
    return commit.removesuffix("+")[:_COMMIT] + ("+" if commit.endswith("+") else "")


# --- plain lines --------------------------------------------------------------------------------------------------------


def _lines(runs: Sequence[ListedRun], more: int) -> Iterator[str]:
    for listed in runs:
        yield "  ".join(field for field in _fields(listed) if field)
    if more:
        yield f"MORE  {more} runs  (--limit 0 lists all)"


def _fields(listed: ListedRun) -> Iterator[str]:
    run = listed.run
    yield "RUN"
    yield listed.short
    yield how_it_stands(run).replace(" ", "_")
    yield when(run.created_at)
    yield f"agent={run.agent}"
    yield f"sets={','.join(run.sets)}"
    yield f"cases={run.cases}"
    yield f"runs={run.num_runs}"
    for outcome, count in told_counts(run):
        yield f"{outcome.value}={count}"
    if run.summary.duration:
        yield f"duration={duration(run.summary.duration)}"
    if run.summary.spent:
        yield f"cost={cost_text(run.summary.spent).replace(' ', '_')}"
    if listed.commit:
        yield f"commit={short_commit(listed.commit)}"
    if run.judgings > 1:
        yield f"judgings={run.judgings}"
