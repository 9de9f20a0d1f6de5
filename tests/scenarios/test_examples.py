"""The sample agents: the good ones pass their sets, the bad build fails exactly in its bad cases, with the reasons."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import proctor
from examples import demo
from examples.dice import agent as dice
from examples.home_automation import agent as home
from examples.travel import agent as travel
from proctor.agents.base import Session
from proctor.agents.function import FunctionAgent
from proctor.schema import Content, Part, text_of
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

EXAMPLES = Path(demo.__file__).parent
BOOKINGS = EXAMPLES / "travel" / "bookings.evalset.json"

GOOD = {
    "home_automation": {"home.evalset.json": 7, "lights.test.json": 1, "evening.evalset.yaml": 4},
    "dice": {"dice.evalset.json": 7},
    "travel": {"bookings.evalset.json": 8},
    "custom_metric": {"units.evalset.json": 4},
    "adk_weather": {"weather.evalset.json": 6},
}
GOOD_SETS = [
    pytest.param(
        agent, name, cases, id=f"{agent}-{name}", marks=[pytest.mark.needs_adk] if "adk" in agent else []
    )
    for agent, sets in GOOD.items()
    for name, cases in sets.items()
]


JUDGED = {"agent.py": {}, "boastful.py": {"about_bern": 1, "not_in_the_book": 2}}
"""The guides, and how many sentences or rubrics the judge finds wrong in which turn of which case."""


@pytest.mark.parametrize("name", JUDGED)
def test_a_guide_that_boasts_is_found_out_by_the_judge(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    run = proctor.evaluate_sync(
        f"examples/city_guide/{name}",
        "examples/city_guide/guide.evalset.yaml",
        judge="scripted:examples/city_guide/judge.json",
    )
    missed = {
        case.eval_id: turn
        for case in run.cases
        for metric in case.metrics.values()
        for turn, found in enumerate(metric.per_invocation, 1)
        if metric.gate and found.score is not None and found.score < 1
    }
    assert missed == JUDGED[name]
    assert run.outcome is (Outcome.FAILED if missed else Outcome.PASSED)
    assert all("most beautiful city" in why(case) for case in run.cases if not case.passed)


def why(case: CaseResult) -> str:
    """Return the result of one case as text."""
    texts: list[object] = [case.reason]
    for verdict in case.metrics.values():
        texts += [verdict.reason, *((part.reason, part.details) for part in verdict.per_invocation)]
    texts += [trial.failure.cause for trial in case.trials if trial.failure]
    return "\n".join(map(str, texts))


@pytest.mark.parametrize(("agent", "name", "cases"), GOOD_SETS)
def test_a_good_agent_passes_its_sets(agent: str, name: str, cases: int) -> None:
    run = proctor.evaluate_sync(str(EXAMPLES / agent), str(EXAMPLES / agent / name))

    assert {case.eval_id: why(case) for case in run.cases if not case.passed} == {}
    assert (run.outcome, len(run.cases)) == (Outcome.PASSED, cases)


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "name", "cases"), GOOD_SETS)
def test_repeats_at_once_change_nothing(agent: str, name: str, cases: int) -> None:
    run = proctor.evaluate_sync(
        str(EXAMPLES / agent), str(EXAMPLES / agent / name), num_runs=3, concurrency=20
    )

    assert run.passed
    assert [len(case.trials) for case in run.cases] == [3] * cases


def test_every_agent_is_scored_with_the_config_of_its_folder() -> None:
    run = proctor.evaluate_sync(str(EXAMPLES / "dice"), str(EXAMPLES / "dice" / "dice.evalset.json"))

    assert Path(run.sets[0].config_source) == EXAMPLES / "dice" / "test_config.json"
    assert run.cases[0].metrics["response_match_score"].threshold == pytest.approx(0.7)


@pytest.mark.needs_adk
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.evalset.json")), ids=lambda path: path.name)
def test_google_adk_reads_every_set_too(path: Path) -> None:
    from google.adk.evaluation.eval_set import EvalSet

    ours = json.loads(path.read_text(encoding="utf-8"))
    theirs = EvalSet.model_validate(ours)

    assert [case.eval_id for case in theirs.eval_cases] == [case["eval_id"] for case in ours["eval_cases"]]


# --- the bad build ---------------------------------------------------------------------------------------------------

TRAJECTORY, TEXT, STATE = "tool_trajectory_avg_score", "response_match_score", "final_session_state"

# What is wrong with each case: its outcome, the metrics that fail, and the required words of the reasons.
FLAWS: dict[str, tuple[Outcome, set[str], list[str]]] = {
    "two_turn_booking": (
        Outcome.FAILED,
        {TRAJECTORY, STATE},
        ["turn 2: `book_table` argument `covers` is 4, expected 2", "send_sms"],
    ),
    "table_in_one_go": (
        Outcome.FAILED,
        {TRAJECTORY},
        ['`send_sms(text="See you at Chez Nous!")` was called but not expected'],
    ),
    "fully_booked": (
        Outcome.FAILED,
        {TRAJECTORY, TEXT},
        ['`book_table(restaurant="La Trattoria", covers=3, time="20:00")` was called but not expected'],
    ),
    "cancel_the_table": (Outcome.FAILED, {STATE}, ["state `table` is", "expected null"]),
    "opening_hours": (
        Outcome.FAILED,
        {TRAJECTORY, TEXT},
        ['`find_restaurant(name="Blue Lotus")` was not called'],
    ),
    "flight_in_one_go": (
        Outcome.FAILED,
        {TRAJECTORY, TEXT},
        ["called in another order: book_flight, find_flight", 'missing: "for", "july", "3"'],
    ),
    "two_turn_flight": (Outcome.ERROR, set(), ["ValueError", "June 15th", "turn 2"]),
    "no_such_restaurant": (Outcome.PASSED, set(), []),
}


@pytest.fixture(scope="module")
def flawed() -> RunResult:
    run: RunResult = proctor.evaluate_sync(str(EXAMPLES / "travel" / "flawed.py"), str(BOOKINGS))
    return run


def test_the_bad_build_fails(flawed: RunResult) -> None:
    assert (flawed.outcome, flawed.exit_code) == (Outcome.FAILED, 1)
    assert {case.eval_id: case.outcome for case in flawed.cases} == {name: f[0] for name, f in FLAWS.items()}


@pytest.mark.parametrize("eval_id", FLAWS)
def test_each_flaw_is_found_by_what_measures_it(flawed: RunResult, eval_id: str) -> None:
    case = flawed.case(eval_id)
    failed = {name for name, verdict in case.metrics.items() if verdict.outcome is Outcome.FAILED}

    assert failed == FLAWS[eval_id][1]


@pytest.mark.parametrize("eval_id", FLAWS)
def test_each_flaw_is_named(flawed: RunResult, eval_id: str) -> None:
    text = why(flawed.case(eval_id))

    assert [words for words in FLAWS[eval_id][2] if words not in text] == []


# What the alignment of expected and actual calls shows, step by step, in the turn that went wrong.
STEPS = {
    "two_turn_booking": (1, ["matched", "differs", "extra"]),
    "table_in_one_go": (0, ["matched", "matched", "extra"]),
    "fully_booked": (0, ["matched", "extra", "extra"]),
    "opening_hours": (0, ["missing"]),
    "flight_in_one_go": (0, ["moved", "matched"]),
}


@pytest.mark.parametrize("eval_id", STEPS)
def test_each_kind_of_difference_shows(flawed: RunResult, eval_id: str) -> None:
    turn, kinds = STEPS[eval_id]
    details = flawed.case(eval_id).metrics[TRAJECTORY].per_invocation[turn].details or {}
    steps: Any = details["alignment"]

    assert sorted(step["kind"] for step in steps) == sorted(kinds)


def test_the_error_keeps_what_happened_before_it(flawed: RunResult) -> None:
    trial = flawed.case("two_turn_flight").trials[0].trial

    assert trial is not None
    assert len(trial.turns) == 2
    assert trial.turns[0].events[-1].content is not None
    assert trial.turns[0].events[-1].content.joined_text() == "Which date would you like to travel?"


# --- the agents do real work, also on what no set asks ---------------------------------------------------------------


def talk(agent: Any, *texts: str, state: dict[str, Any] | None = None) -> tuple[list[str], dict[str, Any]]:
    """Send messages to an agent without Proctor's engine; return its answers and the state."""
    session = Session(id="s", app_name="app", user_id="user", state=dict(state or {}))
    willing = agent if hasattr(agent, "answer") else FunctionAgent(agent)

    async def converse() -> list[str]:
        messages = [Content(role="user", parts=[Part(text=text)]) for text in texts]
        events = [event for message in messages async for event in willing.answer(message, session)]
        return [text for event in events if (text := text_of(event.content))]

    return asyncio.run(converse()), session.state


@pytest.mark.parametrize(
    ("texts", "last", "state"),
    [
        (
            ["Set the kitchen to 23 degrees"],
            "The kitchen is now set to 23 degrees.",
            {"kitchen_temperature": 23},
        ),
        (
            ["Bedroom: three degrees cooler"],
            "The bedroom is now set to 15 degrees.",
            {"bedroom_temperature": 15},
        ),
        (
            ["Switch on all in the living room"],
            "Everything in the living room is on.",
            {"living_room_fan": "on"},
        ),
        (["Put the radio on"], "The kitchen radio is now on.", {"kitchen_radio": "on"}),
        (["Turn on the light"], "I don't know that device.", {"living_room_light": "off"}),
        (["Sing!"], "Sorry, I can only look after lights, fans, the radio and the heating.", {}),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_the_house_obeys(texts: list[str], last: str, state: dict[str, Any]) -> None:
    answers, after = talk(home.root_agent, *texts)

    assert answers[-1] == last
    assert state.items() <= after.items()


def test_dice_are_the_same_in_every_session_of_one_seed() -> None:
    rolls = [talk(dice.root_agent, "Roll five d100", state={"seed": seed})[1]["rolls"] for seed in (1, 1, 2)]

    assert rolls[0] == rolls[1] != rolls[2]
    assert all(1 <= roll <= 100 for roll in rolls[0])


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Are 2, 4 or 1 prime?", "Of these, 2 is a prime number."),
        ("Is 91 a prime?", "91 is not a prime number."),
        ("Are 8 and 9 primes?", "None of them is a prime number."),
        ("What did I roll so far?", "You have not rolled yet."),
    ],
)
def test_primes_are_computed(text: str, last: str) -> None:
    assert talk(dice.root_agent, text)[0] == [last]


@pytest.mark.parametrize(
    ("texts", "last", "state"),
    [
        (
            ["Table please", "Chez Nous", "for 6", "at 18:30"],
            "Done! Table booked at Chez Nous for 6 at 6:30pm.",
            {},
        ),
        (["Fly to Rome on May 3rd"], "Sorry, we do not fly to Rome.", {}),
        (
            ["Fly to Oslo on 30 April"],
            "Done! Flight PR 77 to Oslo is booked for April 30.",
            {"date": "2027-04-30"},
        ),
        (["Fly to Oslo on February 30th"], "Which date would you like to travel?", {}),
        (["Cancel it"], "You have no table booked.", {}),
        (
            ["Table for 2 at Blue Lotus", "Fly to Paris", "June 1"],
            "Done! Flight PR 204 to Paris is booked for June 1.",
            {},
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_the_travel_desk_books(texts: list[str], last: str, state: dict[str, Any]) -> None:
    answers, after = talk(travel.root_agent, *texts, state={"today": "2026-05-01"})

    assert answers[-1] == last
    assert state.items() <= after.get("flight", {}).items()


# --- the demo --------------------------------------------------------------------------------------------------------


@pytest.mark.nightly  # `.ci/run` runs `make demo` itself
@pytest.mark.slow
def test_the_demo_ends_as_expected(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "examples/demo.py"], cwd=root, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"$ proctor {step.command}" in done.stdout for step in demo.STEPS)


@pytest.mark.slow
def test_the_demo_fails_when_a_command_ends_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo, "STEPS", [demo.Step("shows the version, which is not a failure", "--version", exit_code=1)]
    )

    assert demo.main() == 1
