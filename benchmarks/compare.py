"""W10: two runs of many cases × 3 metrics compared from the command line, out of the store, figures with intervals and all.

    python -m benchmarks.compare FOLDER CASES      makes the two runs in FOLDER, and prints where the store is

The candidate is worse: it answers every seventh case otherwise, so that differences are many and scores are of many values.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import workload
from benchmarks.measuring import Command, alternate
from benchmarks.table import OURS, Budget, Row
from proctor import Invocation

CONFIG = {
    "criteria": {
        "tool_trajectory_avg_score": 1.0,
        "response_match_score": 0.8,
        "brevity": {"threshold": 0.1},
    },
    "custom_metrics": {"brevity": {"code_config": {"name": "benchmarks.compare.brevity"}}},
}
EVERY = 7


def brevity(actual_invocation: Invocation, expected_invocation: Invocation) -> float:
    """A third metric: the ratio of the lengths of the answers, a distinct number for each case."""
    length, wanted = (
        len(one.final_response.joined_text()) if one.final_response else 0
        for one in (actual_invocation, expected_invocation)
    )
    return min(length, wanted) / max(length, wanted, 1)


NAME = "compared.sqlite3"


def rows(folder: Path, repeats: int, cases: int = 10_000) -> Iterator[Row]:
    """Measure, one row."""
    store = keep(folder, cases)
    words = [sys.executable, "-m", "proctor", "compare", "--store", str(store), "--json"]
    found = alternate({OURS: Command(words, reports=False, exit_codes=(1,))}, repeats)[OURS]
    store.unlink()
    what = f"two runs of {cases:,} cases × 3 metrics compared, command line"
    yield Row("W10", what, "s", {OURS: found["process_wall"]}, [Budget(3.0, size="3 s")])


def keep(folder: Path, cases: int) -> Path:
    """Run both builds into a new store, and return it."""
    from benchmarks.ours import ScriptedAgent
    from proctor import Content, EvalSet, Event, Session, evaluate_sync

    class Worse(ScriptedAgent):
        async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
            async for event in super().answer(message, session):
                yield event
            if len(self.began) % EVERY == 0:
                yield Event.said(f"I am not sure, but {len(self.began)} times I was told that it rains.")

    store = folder / NAME
    for agent in (ScriptedAgent(), Worse()):
        given = EvalSet.model_validate(workload.eval_set(cases))
        evaluate_sync(agent, given, config=CONFIG, store=store, keep_evidence="failures", concurrency=1)
    return store


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, cases]:
            keep(Path(folder), int(cases))
            workload.report()
        case _:
            sys.exit(__doc__)
