"""Runs made by hand, as the engine makes them."""

from collections.abc import Sequence
from typing import Any

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, Part
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
)
from proctor.schema.results.score import MetricScore, Score

TRAJECTORY = "tool_trajectory_avg_score"
RESPONSE = "response_match_score"
STATE = "final_session_state"
P, F, E, U = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE

TRACEBACK = """Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/framework/runner.py", line 10, in run
    return await self.tool(**args)
           ^^^^^^^^^^^^^^^^^^^^^^^
  File "travel/tools.py", line 42, in book_table
    covers = args["covers"]
             ~~~~^^^^^^^^^^
KeyError: 'covers'
"""


def call(name: str, /, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def matched(name: str, /, **args: Any) -> dict[str, Any]:
    return {"kind": "matched", "expected": call(name, **args), "actual": call(name, **args), "arguments": []}


def differs(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    wanted, made = expected["args"], actual["args"]
    arguments = []
    for name in {**wanted, **made}:
        if name not in made:
            arguments.append({"name": name, "kind": "missing", "expected": wanted[name], "actual": None})
        elif name not in wanted:
            arguments.append({"name": name, "kind": "extra", "expected": None, "actual": made[name]})
        elif wanted[name] != made[name]:
            arguments.append(
                {"name": name, "kind": "differs", "expected": wanted[name], "actual": made[name]}
            )
    return {"kind": "differs", "expected": expected, "actual": actual, "arguments": arguments}


def extra(name: str, /, **args: Any) -> dict[str, Any]:
    return {"kind": "extra", "expected": None, "actual": call(name, **args), "arguments": []}


def missing(name: str, /, **args: Any) -> dict[str, Any]:
    return {"kind": "missing", "expected": call(name, **args), "actual": None, "arguments": []}


def moved(name: str, /, **args: Any) -> dict[str, Any]:
    return {**matched(name, **args), "kind": "moved"}


def metric(
    name: str,
    scores: Sequence[float | MetricScore | None],
    threshold: float | None = 1.0,
    outcome: Outcome | None = None,
    *,
    reason: str = "",
    gate: bool = True,
) -> MetricVerdict:
    """A metric's verdict over trials; the outcome follows from the mean unless it is given."""
    per_trial = [
        s if isinstance(s, MetricScore) else MetricScore(value=s, per_invocation=[Score(value=s)])
        for s in scores
    ]
    values = [s.value for s in per_trial if s.value is not None]
    mean = sum(values) / len(values) if values else None
    if outcome is None:
        outcome = (
            Outcome.PASSED
            if mean is not None and threshold is not None and mean >= threshold
            else Outcome.FAILED
        )
    return MetricVerdict(name, outcome, mean, threshold, gate, reason, list(per_trial))


def trial(
    number: int, outcome: Outcome, *said: str, failure: Failure | None = None, answer: str = "Done."
) -> TrialResult:
    evidence = Trial(
        eval_set_id="booking",
        eval_id="case",
        number=number,
        session_id="s1",
        turns=[
            Turn(
                user_content=Content(role="user", parts=[Part(text=text)]),
                events=[Event.said(answer)],
                duration=0.25,
            )
            for text in said or ("Hello",)
        ],
        final_state={"covers": 4},
        failure=failure,
        duration=0.5,
    )
    return TrialResult(number, outcome, evidence=evidence, failure=failure)


def case(
    eval_id: str,
    outcome: Outcome = Outcome.PASSED,
    *metrics: MetricVerdict,
    reason: str = "",
    trials: Sequence[TrialResult] | None = None,
    eval_set_id: str = "booking",
) -> CaseResult:
    results = list(trials) if trials is not None else [trial(0, outcome)]
    found = {each.name: each for each in metrics}
    return CaseResult(eval_set_id, eval_id, outcome, reason, found, results, place="booking.evalset.json:12")


def figures(calls: float = 1.5, tokens: float = 1204, seconds: float = 1.9) -> list[MetricVerdict]:
    return [
        metric("tool_call_count_v1", [calls], None, Outcome.INFORMATIONAL, gate=False),
        metric("token_usage_v1", [tokens], None, Outcome.INFORMATIONAL, gate=False),
        metric("invocation_duration_v1", [seconds], None, Outcome.INFORMATIONAL, gate=False),
    ]


def good(eval_id: str, trials: int = 1, *, eval_set_id: str = "booking") -> CaseResult:
    return case(
        eval_id,
        P,
        metric(TRAJECTORY, [1.0] * trials, 0.9),
        metric(RESPONSE, [0.97] * trials, 0.8),
        *figures(),
        trials=[trial(n, P) for n in range(trials)],
        eval_set_id=eval_set_id,
    )


def wrong_covers() -> CaseResult:
    """Two turns; in the second one argument differs, one call is extra, the text and the state differ."""
    alignment = [
        matched("find_restaurant", name="La Trattoria"),
        differs(
            call("book_table", restaurant="La Trattoria, Via Garibaldi 12, Torino", covers=2, time="19:00"),
            call("book_table", restaurant="La Trattoria, Via Garibaldi 12, Torino", covers=4, time="19:00"),
        ),
        extra("send_sms", to="+39 011 555 0101", text="Your table for 4 is booked"),
    ]
    reason = "`book_table` argument `covers` is 4, expected 2"
    bad = MetricScore(
        value=0.5,
        per_invocation=[Score(1.0), Score(0.0, reason=reason, details={"alignment": alignment})],
        reason=reason,
    )
    text = {
        "expected": "Done! Table booked at La Trattoria for 2 at 7pm.",
        "actual": "Done! Table booked at La Trattoria for 4 at 7pm. I also sent you a message.",
    }
    answer = MetricScore(value=0.7, per_invocation=[Score(1.0), Score(0.4, details={"text": text})])
    state = [
        {"key": "restaurant", "kind": "matched", "expected": "La Trattoria", "actual": "La Trattoria"},
        {"key": "covers", "kind": "differs", "expected": 2, "actual": 4},
        {"key": "confirmed", "kind": "missing", "expected": True, "actual": None},
    ]
    final = MetricScore(value=0.0, details={"state": state})
    said = ("Book me a table for two tonight.", "La Trattoria.")
    return case(
        "two_turn_booking",
        F,
        metric(TRAJECTORY, [1.0, 1.0, bad, bad, bad], 0.9, reason=reason),
        metric(RESPONSE, [1.0, 1.0, answer, answer, answer], 0.9),
        metric(STATE, [1.0, 1.0, final, final, final], 1.0),
        *figures(2.5, 2310, 2.4),
        reason=f"{TRAJECTORY} 0.70 < 0.9: turn 2: {reason}",
        trials=[trial(n, P if n < 2 else F, *said) for n in range(5)],
    )


def crashed() -> CaseResult:
    failure = Failure(
        where="agent",
        kind=FailureKind.RAISED,
        type="KeyError",
        message="'covers'",
        traceback=TRACEBACK,
        turn=0,
    )
    return case(
        "refund_policy",
        E,
        metric(TRAJECTORY, [1.0, 1.0, 1.0, 1.0, None], 0.9, E),
        metric(RESPONSE, [0.9, 0.9, 0.9, 0.9, None], 0.8, E),
        reason=failure.cause,
        trials=[
            *(trial(n, P) for n in range(4)),
            trial(4, E, "What is your refund policy?", failure=failure),
        ],
    )


def undecided() -> CaseResult:
    return case(
        "cancel_flight",
        U,
        metric(TRAJECTORY, [1.0, 1.0, 1.0, 0.0, 1.0], 0.9, U),
        metric(RESPONSE, [0.88] * 5, 0.8),
        reason="0.80 passed, 0.9 asked for at 95 %: about 30 more trials",
        trials=[trial(n, F if n == 3 else P) for n in range(5)],
    )


def run(
    *cases: CaseResult,
    agent: str = "travel_agent",
    sets: Sequence[SetSummary] | None = None,
    num_runs: int = 1,
) -> RunResult:
    found = [
        SetSummary(
            name,
            f"sets/{name}.evalset.json",
            "tests/test_config.json",
            sum(c.eval_set_id == name for c in cases),
            [TRAJECTORY, RESPONSE],
            num_runs=num_runs,
        )
        for name in dict.fromkeys(c.eval_set_id for c in cases)
    ]
    return RunResult(agent, list(cases), list(sets) if sets is not None else found, num_runs, duration=192.0)


def sketch(passing: int = 37) -> RunResult:
    """The run of the terminal's sketch: one failure, one error, one undecided, the rest passed."""
    cases = [good(f"weather_{n:02}", 5) for n in range(passing)]
    cases[3:3] = [wrong_covers()]
    cases[9:9] = [crashed()]
    return run(*cases, undecided(), num_runs=5)
