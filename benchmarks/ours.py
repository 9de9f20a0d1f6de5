"""Proctor's side of the workloads, each in a separate process.

python -m benchmarks.ours evaluate CASES exact|rouge [FILE]
python -m benchmarks.ours wait CASES CONCURRENCY SECONDS async|plain
python -m benchmarks.ours converse TURNS CASES
python -m benchmarks.ours load FILE
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from benchmarks import workload
from proctor import Content, EvalSet, Event, Session, evaluate_sync

CONFIGS: dict[str, dict[str, Any]] = {
    "exact": {"criteria": {"tool_trajectory_avg_score": 1.0}},
    "rouge": {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}},
}


class ScriptedAgent:
    """Answers at once: one tool call, its response, a text."""

    def __init__(self) -> None:
        """Note when each turn begins."""
        self.began: list[float] = []

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Yield the events of one turn."""
        self.began.append(time.perf_counter())
        parts = message.parts or []
        place = workload.asked_city(parts[0].text or "")
        yield Event.called(workload.TOOL, workload.arguments(place), id="1")
        yield Event.returned(workload.TOOL, dict(workload.RESPONSE), id="1")
        yield Event.said(workload.answer_text(place))


agent = ScriptedAgent()
"""What `proctor eval` is pointed at."""


def _check(failed: int, cases: int) -> None:
    expected = workload.expected_failures(cases)
    if failed != expected:
        sys.exit(f"{failed} of {cases} cases failed; {expected} should have")


def _run(given: Any, config: dict[str, Any], **options: Any) -> int:
    result = evaluate_sync(ScriptedAgent(), given, config=config, keep_evidence="failures", **options)
    return sum(case.outcome == "failed" for case in result.cases)


def evaluate(cases: int, metric: str, path: str = "") -> None:
    """W2: seconds for all cases, from memory or from a file."""
    config = CONFIGS[metric]
    _run(EvalSet.model_validate(workload.eval_set(20)), config)  # validators are built on first use
    given = path or EvalSet.model_validate(workload.eval_set(cases))
    watch = workload.Stopwatch()
    failed = _run(given, config)
    workload.report(**watch.stop(), failed=failed)
    _check(failed, cases)


def wait(cases: int, concurrency: int, seconds: float, kind: str) -> None:
    """W3: an agent that waits in every turn, as a coroutine function or as a plain one in threads."""

    async def asynchronous(text: str) -> str:
        await asyncio.sleep(seconds)
        return text

    def plain(text: str) -> str:
        time.sleep(seconds)
        return text

    config = CONFIGS["exact"]
    given = EvalSet.model_validate(workload.eval_set(cases))
    _run(EvalSet.model_validate(workload.eval_set(5)), config)
    watch = workload.Stopwatch()
    evaluate_sync(
        plain if kind == "plain" else asynchronous,
        given,
        config=config,
        concurrency=concurrency,
        keep_evidence="failures",
    )
    workload.report(**watch.stop())


def converse(turns: int, cases: int) -> None:
    """W8: seconds per turn around turn 10 and at the end of a conversation, and per turn over all, scoring included."""
    import statistics  # not above: as the agent of W1 this file is loaded, and the bare limit's has none

    config = CONFIGS["rouge"]
    _run(EvalSet.model_validate(workload.eval_set(20)), config)
    given = EvalSet.model_validate(workload.eval_set(cases, turns))
    subject = ScriptedAgent()
    watch = workload.Stopwatch()
    evaluate_sync(subject, given, config=config, concurrency=1, keep_evidence="failures")
    whole = watch.stop()
    steps = [
        [after - before for before, after in itertools.pairwise(began)]
        for began in (subject.began[at : at + turns] for at in range(0, len(subject.began), turns))
    ]
    early = statistics.median(step for case in steps for step in case[5:15])
    late = statistics.median(step for case in steps for step in case[-10:])
    workload.report(early=early, late=late, per_turn=whole["cpu"] / turns / cases)


def play(turns: int, cases: int) -> None:
    """W8 with simulated users: seconds per turn near the start and at the end, of the user's model and the agent together."""
    import statistics

    from proctor.models.base import Reply

    class Asking:
        """The user's model: it asks the same each time, and keeps nothing."""

        name, has_schemas = "asking", True

        async def complete(self, messages: Any, *, options: Any) -> Reply:
            return Reply(text=workload.ASK + "Rome?", model="asking")

    def case(number: int) -> dict[str, object]:
        scenario = {
            "starting_prompt": workload.ASK + "Rome?",
            "conversation_plan": "Ask for the weather, over and over.",
        }
        return {
            "eval_id": f"s{number}",
            "conversation_scenario": scenario,
            "final_session_state": {"never": 1},
        }

    given = EvalSet.model_validate({"eval_set_id": "played", "eval_cases": [case(n) for n in range(cases)]})
    config = {"criteria": {}, "user_simulator_config": {"max_allowed_invocations": turns}}
    subject = ScriptedAgent()
    user = Asking()
    evaluate_sync(
        ScriptedAgent(),
        given.model_copy(update={"eval_cases": given.eval_cases[:1]}),
        config=config,
        user=user,
    )
    began = time.perf_counter()
    evaluate_sync(subject, given, config=config, user=user, concurrency=1)
    took = time.perf_counter() - began
    steps = [
        [after - before for before, after in itertools.pairwise(began)]
        for began in (subject.began[at : at + turns] for at in range(0, len(subject.began), turns))
    ]
    early = statistics.median(step for case in steps for step in case[5:15])
    late = statistics.median(step for case in steps for step in case[-10:])
    workload.report(early=early, late=late, per_turn=took / (turns * cases))


def load(path: str) -> None:
    """W5: open the set, which reads and checks every case."""
    from proctor.files.eval_sets.source import open_eval_set

    small = Path(path).with_name("small.json")
    if small.exists():
        open_eval_set(small)  # validators are built on first use
    watch = workload.Stopwatch()
    open_eval_set(Path(path))
    workload.report(**watch.stop())


def main(words: list[str]) -> None:
    """Run the workload named by the first word."""
    match words:
        case ["evaluate", cases, metric, *path]:
            evaluate(int(cases), metric, *path)
        case ["wait", cases, concurrency, seconds, kind]:
            wait(int(cases), int(concurrency), float(seconds), kind)
        case ["converse", turns, cases]:
            converse(int(turns), int(cases))
        case ["play", turns, cases]:
            play(int(turns), int(cases))
        case ["load", path]:
            load(path)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
