"""What does exactly what is expected passes; what differs in one place fails there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import proctor
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from tests.scenarios.properties.generated_conversations import (
    Doing,
    Json,
    Script,
    Turn,
    eval_set,
    scripts,
    values,
)

pytestmark = pytest.mark.slow  # random sets, each of them run

BOTH = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
ONLY = {name: {"criteria": {name: 1.0}} for name in ("tool_trajectory_avg_score", "response_match_score")}
law = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def run(agent: Any, sets: Any, config: Any = BOTH, **options: Any) -> RunResult:
    result: RunResult = proctor.evaluate_sync(agent, sets, config=config, **options)
    return result


def only(result: RunResult) -> CaseResult:
    (case,) = result.cases
    return case


# --- equal passes ------------------------------------------------------------------------------------------------------


@law
@given(st.lists(scripts(), min_size=1, max_size=3))
def test_replay_of_any_eval_set_passes(given_scripts: list[Script]) -> None:
    result = run("replay", eval_set(*given_scripts))
    assert result.passed, result.cases


@law
@given(st.lists(scripts(), min_size=1, max_size=3), st.booleans())
def test_an_agent_that_does_exactly_what_is_expected_passes(given_scripts: list[Script], exact: bool) -> None:
    """Also in ADK's own numbers, except for the texts that leave no word to compare there."""
    assume(exact or all(any(turn.calls for turn in script.turns) for script in given_scripts))
    result = run(
        Doing(*given_scripts), eval_set(*given_scripts), BOTH if exact else ONLY["tool_trajectory_avg_score"]
    )
    assert result.passed, result.cases


# --- one difference fails ----------------------------------------------------------------------------------------------


@st.composite
def one_change_in_the_calls(draw: st.DrawFn) -> tuple[Script, Script]:
    """A script, and the same with one call dropped, added, changed, or two exchanged."""
    script = draw(scripts())
    other = copy.deepcopy(script)
    turn = draw(st.sampled_from(other.turns))
    change = draw(st.sampled_from(CHANGES))
    change(draw, turn)
    assume([turn.calls for turn in script.turns] != [turn.calls for turn in other.turns])
    assume(any(turn.calls for turn in script.turns))  # else the case asserts nothing
    assume(all(turn.calls or (turn.text or "").strip() for turn in other.turns))  # else the agent is in error
    return script, other


def drop(draw: st.DrawFn, turn: Turn) -> None:
    assume(turn.calls)
    del turn.calls[draw(st.integers(0, len(turn.calls) - 1))]


def add(draw: st.DrawFn, turn: Turn) -> None:
    turn.calls.insert(draw(st.integers(0, len(turn.calls))), ("look", {"at": draw(values)}))


def exchange(draw: st.DrawFn, turn: Turn) -> None:
    assume(len(turn.calls) > 1)
    at = draw(st.integers(0, len(turn.calls) - 2))
    turn.calls[at], turn.calls[at + 1] = turn.calls[at + 1], turn.calls[at]


def rename(draw: st.DrawFn, turn: Turn) -> None:
    assume(turn.calls)
    at = draw(st.integers(0, len(turn.calls) - 1))
    turn.calls[at] = (turn.calls[at][0] + "x", turn.calls[at][1])


def change_argument(draw: st.DrawFn, turn: Turn) -> None:
    assume(turn.calls)
    at = draw(st.integers(0, len(turn.calls) - 1))
    name, args = turn.calls[at]
    changed = {**(args or {}), draw(st.sampled_from(sorted(args) if args else ["new"])): draw(values)}
    turn.calls[at] = (name, changed)


CHANGES: list[Callable[[st.DrawFn, Turn], None]] = [drop, add, exchange, rename, change_argument]


@pytest.mark.nightly
@law
@given(one_change_in_the_calls())
def test_any_change_in_one_call_fails_an_exact_trajectory(pair: tuple[Script, Script]) -> None:
    script, other = pair
    case = only(run(Doing(other), eval_set(script), ONLY["tool_trajectory_avg_score"]))
    assert case.outcome is Outcome.FAILED
    verdict = case.metrics["tool_trajectory_avg_score"]
    scores = [each.score for each in verdict.per_invocation]
    assert scores == [float(a.calls == b.calls) for a, b in zip(script.turns, other.turns, strict=True)]
    assert all(each.reason for each in verdict.per_invocation if each.score == 0)
    assert case.reason.startswith("tool_trajectory_avg_score ")


@pytest.mark.nightly
@law
@given(scripts(), st.data())
def test_another_text_fails_the_response_match(script: Script, data: st.DataObject) -> None:
    stated = [turn for turn in script.turns if turn.text and turn.text.strip()]
    assume(stated)
    other = copy.deepcopy(script)
    turn = data.draw(st.sampled_from([turn for turn in other.turns if turn.text and turn.text.strip()]))
    turn.text = data.draw(st.sampled_from([None, "", "zzqx zzqy", "zzqx zzqy " * 20]))
    assume(all(turn.calls or (turn.text or "").strip() for turn in other.turns))  # else the agent is in error
    case = only(run(Doing(other), eval_set(script), ONLY["response_match_score"]))
    assert case.outcome is Outcome.FAILED
    assert case.metrics["response_match_score"].score is not None
    assert case.reason.startswith("response_match_score ")


@pytest.mark.nightly
@law
@given(scripts(), st.data())
def test_any_change_in_one_key_of_the_state_fails(script: Script, data: st.DataObject) -> None:
    assume(script.state)
    other = copy.deepcopy(script)
    key = data.draw(st.sampled_from(sorted(script.state)))
    if data.draw(st.booleans()) and key not in script.initial:
        del other.state[key]
    else:
        other.state[key] = data.draw(values)
    assume(key not in other.state or not same(script.state[key], other.state[key]))
    case = only(run(Doing(other), eval_set(script), BOTH))
    assert case.outcome is Outcome.FAILED
    assert case.reason.startswith("final_session_state ")
    assert case.metrics["final_session_state"].score == 0


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: true is not 1, but 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.nightly
@law
@given(scripts(), values)
def test_more_state_than_is_stated_does_not_matter(script: Script, value: Json) -> None:
    assume(script.state)
    other = copy.deepcopy(script)
    other.state["more than is stated"] = value
    assert run(Doing(other), eval_set(script)).passed


# --- nothing else matters ----------------------------------------------------------------------------------------------


def verdicts_of(result: RunResult) -> list[Any]:
    """All of a verdict but times: outcomes, reasons, scores of every metric, trial and turn."""
    return [
        (
            case.eval_id,
            case.outcome,
            case.reason,
            [
                (name, verdict.outcome, verdict.score, [each.score for each in verdict.per_invocation])
                for name, verdict in case.metrics.items()
                if name != "invocation_duration_v1"
            ],
        )
        for case in result.cases
    ]


@st.composite
def expected_and_done(draw: st.DrawFn) -> tuple[list[Script], list[Script]]:
    """Scripts, some of which the agent does otherwise."""
    pairs = draw(
        st.lists(one_change_in_the_calls() | scripts().map(lambda one: (one, one)), min_size=2, max_size=5)
    )
    return [expected for expected, _ in pairs], [done for _, done in pairs]


@pytest.mark.nightly
@settings(law, max_examples=40)
@given(expected_and_done(), st.lists(st.sampled_from([0, 0.001, 0.003]), min_size=3, max_size=3))
def test_verdicts_do_not_depend_on_who_is_done_first(
    pair: tuple[list[Script], list[Script]], delays: list[float]
) -> None:
    expected, done = pair
    sets = eval_set(*expected)
    one_by_one = verdicts_of(run(Doing(*done), sets, concurrency=1))
    assert verdicts_of(run(Doing(*done, delays=delays), sets, concurrency=8)) == one_by_one
    assert verdicts_of(run(Doing(*done, delays=delays), sets, concurrency=2)) == one_by_one


@pytest.mark.nightly
@settings(law, max_examples=40)
@given(expected_and_done(), st.integers(2, 4))
def test_repeats_of_an_agent_that_always_does_the_same_change_no_verdict(
    pair: tuple[list[Script], list[Script]], num_runs: int
) -> None:
    expected, done = pair
    once, often = (run(Doing(*done), eval_set(*expected), num_runs=runs) for runs in (1, num_runs))
    assert verdicts_of(often) == verdicts_of(once)
    assert [len(case.trials) for case in often.cases] == [num_runs] * len(expected)


@pytest.mark.nightly
@settings(law, max_examples=40)
@given(expected_and_done())
def test_the_worst_case_is_the_verdict_of_the_run(pair: tuple[list[Script], list[Script]]) -> None:
    expected, done = pair
    result = run(Doing(*done), eval_set(*expected))
    assert result.passed is all(case.passed for case in result.cases)
    assert result.exit_code == (0 if result.passed else 1)


@law
@given(expected_and_done())
def test_scoring_what_was_recorded_gives_the_verdict_of_the_run(
    pair: tuple[list[Script], list[Script]],
) -> None:
    expected, done = pair
    sets = eval_set(*expected)
    for case, result in zip(sets["eval_cases"], run(Doing(*done), sets).cases, strict=True):
        again = proctor.score_sync(recorded(result), case["conversation"], criteria=BOTH)
        for name, verdict in again.items():
            first = result.metrics[name]
            assert (verdict.outcome, verdict.score) == (first.outcome, first.score)
            assert [each.score for each in verdict.per_invocation] == [
                each.score for each in first.per_invocation
            ]


def recorded(result: CaseResult) -> list[Any]:
    from proctor.schema.evidence.convert_events import invocation_of

    trial = result.trials[0].trial
    assert trial is not None
    return [invocation_of(turn, invocation_id="e").model_dump(mode="json") for turn in trial.turns]


def test_the_laws_are_not_vacuous() -> None:
    """The example of each law's shape, written by hand."""
    script = Script([Turn([("look", {"at": 1})], "fine", as_events=False)], {"seen": True})
    other = Script([Turn([("look", {"at": 2})], "fine", as_events=False)], {"seen": 1})
    assert run(Doing(script), eval_set(script)).passed
    case = only(run(Doing(other), eval_set(script)))
    assert [case.metrics[name].score for name in ("tool_trajectory_avg_score", "final_session_state")] == [
        0,
        0,
    ]
    with pytest.raises(AssertionError):
        assert verdicts_of(run(Doing(script), eval_set(script))) == verdicts_of(
            run(Doing(other), eval_set(script))
        )
