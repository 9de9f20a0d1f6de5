"""One run of several members, each with a part of the cases: the same result as one process, or nothing at all."""

import asyncio
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.engine.execution.run_control import StopRequest
from proctor.errors import NothingToRunError, SetupError
from proctor.reports.formats.json import JsonlReport
from proctor.runs.storage import join_run
from proctor.schema.results.run_result import Outcome, RunResult
from tests.stores.statements import executed_statements

PARTS = 3
CONFIG = {"criteria": {"response_match_score": 0.5}}


def agent(text: str) -> str:
    return "wrong" if text in {"case 3", "case 5"} else f"answer to {text}"


def eval_set(cases: int = 12) -> dict[str, Any]:
    return {
        "eval_set_id": "numbers",
        "eval_cases": [
            {
                "eval_id": f"n{number}",
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": f"case {number}"}]},
                        "final_response": {"parts": [{"text": f"answer to case {number}"}]},
                    }
                ],
            }
            for number in range(cases)
        ],
    }


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an asynchronous test."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


@pytest.fixture(autouse=True)
def _members_look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_run, "POLL_SECONDS", 0.01)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'runs.db'}"


async def member(store: str, part: int, parts: int = PARTS, **options: Any) -> RunResult:
    given = {"config": CONFIG, "join": "nightly", "join_timeout": 30.0, **options}
    sets = given.pop("sets", None) or eval_set()
    return await proctor.evaluate(
        given.pop("agent", agent), sets, store=store, shard=f"{part}/{parts}", **given
    )


async def members(store: str, parts: int = PARTS, **options: Any) -> list[RunResult]:
    return await asyncio.gather(*(member(store, part, parts, **options) for part in range(1, parts + 1)))


def exported(run: RunResult) -> list[dict[str, Any]]:
    """Return the export of a run without ids and clocks."""
    out = io.StringIO()
    JsonlReport().write([run], out)
    return [_without_clocks(json.loads(line)) for line in out.getvalue().splitlines()]


_CLOCKS = re.compile(
    r"run_id|session_id|started_at|.*duration.*|.*seconds.*|timestamp|.*_time|began.*|judged_at|id"
)


def _without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clocks(one) for key, one in value.items() if not _CLOCKS.fullmatch(key)}
    return [*map(_without_clocks, value)] if isinstance(value, list) else value


@pytest.mark.slow
@on_a_loop
async def test_the_whole_run_equals_that_of_one_process(store: str, tmp_path: Path) -> None:
    parts = await members(store, num_runs=2)
    alone = await proctor.evaluate(
        agent, eval_set(), config=CONFIG, num_runs=2, store=f"sqlite:{tmp_path / 'alone.db'}"
    )
    whole = proctor.open_store(store).load("nightly")
    assert exported(whole) == exported(alone)
    assert (whole.outcome, whole.counts, whole.warnings) == (alone.outcome, alone.counts, alone.warnings)
    assert sum(len(part.cases) for part in parts) == len(alone.cases)
    assert {case.eval_id for part in parts for case in part.cases} == {case.eval_id for case in alone.cases}
    for part in parts:
        assert part.counts == {
            outcome: count
            for outcome in Outcome
            if (count := sum(case.outcome is outcome for case in part.cases))
        }


def other_agent(text: str) -> str:
    return f"answer to {text}."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "difference"),
    [
        pytest.param({"agent": other_agent}, "the agent was agent and is other_agent", id="agent"),
        pytest.param({"sets": eval_set(11)}, "1 case of the set is gone: n11", id="set"),
        pytest.param({"config": {"criteria": {"response_match_score": 0.6}}}, "the config of numbers", id="config"),
        pytest.param({"num_runs": 2}, "num_runs is 2 here and null in the run", id="option"),
    ],
)  # fmt: skip
@on_a_loop
async def test_a_member_that_differs_is_named_and_nothing_is_run(
    store: str, given: dict[str, Any], difference: str
) -> None:
    calls: list[str] = []

    def counting(text: str) -> str:
        calls.append(text)
        return agent(text)

    counting.__qualname__ = counting.__name__ = "agent"
    others = [asyncio.create_task(member(store, part, agent=counting)) for part in (1, 2)]
    await asyncio.sleep(0.1)
    with pytest.raises(SetupError, match=re.escape(difference)) as refused:
        await member(store, 3, **{"agent": counting, **given})
    assert "must run the same: part 3/3 of run nightly is refused" in str(refused.value)
    for other in others:
        with pytest.raises(
            SetupError, match=f"nothing was run: part 3/3 of run nightly differs: {re.escape(difference)}"
        ):
            await other
    assert (calls, proctor.list_runs(store)) == ([], [])


@pytest.mark.slow
@on_a_loop
async def test_a_member_that_does_not_arrive_ends_the_others(store: str) -> None:
    both = (member(store, part, join_timeout=0.2) for part in (1, 3))
    found = await asyncio.gather(*both, return_exceptions=True)
    for error in found:
        assert isinstance(error, SetupError)
        assert re.search(
            "nothing was run: parts? (1/3, )?2/3(, 3/3)? of run nightly did not arrive within 0.2 s",
            str(error),
        )
    assert proctor.list_runs(store) == []
    await members(store)  # the name can be used again
    assert proctor.open_store(store).load("nightly").outcome is Outcome.FAILED


@pytest.mark.slow
@on_a_loop
async def test_a_part_without_cases_is_complete_at_once(store: str) -> None:
    found = await asyncio.gather(
        *(member(store, part, 3, sets=eval_set(1)) for part in (1, 2, 3)), return_exceptions=True
    )
    empty = [one for one in found if isinstance(one, NothingToRunError)]
    assert len(empty) == 2
    assert "none of 1 cases; the other shards run the rest" in str(empty[0])
    assert proctor.open_store(store).load("nightly").passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"shard": None}, "join needs shard (--shard I/N)", id="no shard"),
        pytest.param({"join": None, "join_timeout": 5.0}, "join_timeout (--join-timeout) needs join", id="no join"),
        pytest.param({"store": None}, "join needs a store that all members use", id="no store"),
        pytest.param({"join": "latest"}, "join must be a name for the run", id="reserved name"),
        pytest.param({"join": "../run"}, "join must be a name for the run", id="a path"),
        pytest.param({"shard": "4/3"}, "shard must be I/N", id="I > N"),
        pytest.param({"until_decided": True, "num_runs": 5, "min_pass_rate": 0.8, "confidence": 0.95}, "until_decided cannot be combined with join", id="until decided"),
        pytest.param({"max_failures": 3}, "max_failures cannot be combined with join", id="max failures"),
    ],
)  # fmt: skip
@on_a_loop
async def test_options_that_a_shared_run_lacks_or_cannot_have(
    store: str, options: dict[str, Any], message: str
) -> None:
    given = {"config": CONFIG, "join": "nightly", "shard": "1/3", "store": store, **options}
    with pytest.raises(SetupError) as refused:
        await proctor.evaluate(agent, eval_set(), **given)
    assert message in str(refused.value)


@on_a_loop
async def test_a_shared_run_has_one_agent(store: str) -> None:
    with pytest.raises(SetupError, match="join: a run has one agent"):
        await proctor.evaluate_matrix(
            [agent, other_agent], eval_set(), join="nightly", shard="1/2", store=store
        )


@pytest.mark.slow
@on_a_loop
async def test_a_run_that_has_ended_takes_no_member(store: str) -> None:
    await members(store)
    with pytest.raises(SetupError, match="run nightly has ended, so that no process can join it"):
        await member(store, 1)


@pytest.mark.slow
@on_a_loop
async def test_a_comparison_proposes_to_resume_the_parts_before_errors_are_repeated(store: str) -> None:
    stop = StopRequest()

    def stopping(text: str) -> str:
        stop("enough")
        return agent(text)

    await proctor.evaluate(agent, eval_set(), config=CONFIG, store=store)
    await members(store, 2, agent=stopping, stop=stop)
    steps = (await proctor.compare(store=store)).next_steps
    assert [step for step in steps if "proctor resume nightly" in step and "--retry-errors" not in step]


@pytest.mark.slow
@on_a_loop
async def test_a_member_that_continues_reads_many_cases_with_each_statement(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, sets = StopRequest(), eval_set(400)
    answered: list[str] = []

    def stopping(text: str) -> str:
        answered.append(text)
        if len(answered) == 150:
            stop("enough")
        return agent(text)

    stopping.__qualname__ = stopping.__name__ = "agent"
    await members(store, 2, sets=sets, agent=stopping, stop=stop)
    statements = executed_statements(monkeypatch)
    part = await member(store, 1, 2, sets=sets, agent=stopping)
    assert len([case for case in part.cases if case.trials]) == len(part.cases) > 60
    assert set(Counter(answered).values()) == {1}
    reading = [one for one in statements if one.startswith("SELECT") and "FROM trials" in one]
    assert len(reading) <= 15
    assert part.cases[-1].eval_id == [*part.cases][-1].eval_id == part.cases[-2:][1].eval_id
    assert part.case(part.cases[5].eval_id).trials[0].trial is not None
