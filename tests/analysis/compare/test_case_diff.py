"""Two trials side by side: where they part, and which trials are chosen."""

import io

import pytest

from proctor.analysis.compare.case_diff import case_diff_sentence, diff_case, write_case_diff
from proctor.reports.base import ReportOptions
from proctor.reports.content.symbols import DiffKind
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def case(*trials: tuple[Outcome, list[list[Event]]]) -> CaseResult:
    """A case with these trials: how each ended, and the events of its turns."""
    results = []
    for number, (outcome, turns) in enumerate(trials):
        recorded = [
            Turn(user_content=user_text(f"turn {n}"), events=events) for n, events in enumerate(turns)
        ]
        trial = Trial(eval_set_id="set", eval_id="case", number=number, turns=recorded)
        results.append(TrialResult(number, outcome, evidence=trial))
    outcome = FAILED if any(ended is FAILED for ended, _ in trials) else PASSED
    scores = [
        MetricScore(
            float(ended is PASSED), [Score(float(ended is PASSED), "" if ended is PASSED else "it is wrong")]
        )
        for ended, _ in trials
    ]
    verdict = MetricVerdict("quality", outcome, None, 0.5, per_trial=scores)
    return CaseResult("set", "case", outcome, "", {"quality": verdict}, results)


BOOK, TEXT = Event.called("book", {"covers": 2}), Event.said("Booked.")
WRONG = Event.called("book", {"covers": 4})


def test_they_part_where_the_first_step_differs() -> None:
    found = diff_case(case((PASSED, [[TEXT], [BOOK, TEXT]])), case((FAILED, [[TEXT], [WRONG, TEXT]])))
    assert (found.turn, found.alike) == (1, 3)
    assert found.lines == [
        (DiffKind.SAME, "turn 2: user: turn 1"),
        (DiffKind.MISSING, "turn 2: call: book(covers=2)"),
        (DiffKind.EXTRA, "turn 2: call: book(covers=4)"),
        (DiffKind.SAME, "turn 2: answer: Booked."),
    ]


def test_a_turn_that_only_one_of_them_reached_is_where_they_part() -> None:
    found = diff_case(case((PASSED, [[TEXT], [TEXT]])), case((FAILED, [[TEXT]])))
    assert found.turn == 1
    assert {kind for kind, _ in found.lines} == {DiffKind.MISSING}


def test_of_several_trials_those_that_ended_as_the_case_did_are_chosen() -> None:
    found = diff_case(
        case((PASSED, [[TEXT]]), (PASSED, [[TEXT]])), case((PASSED, [[TEXT]]), (FAILED, [[BOOK]]))
    )
    assert (found.base, found.candidate) == ("trial 1 of 2, passed", "trial 2 of 2, failed")


def test_input_of_the_metrics_is_shown_where_it_differs() -> None:
    (saw,) = diff_case(case((PASSED, [[TEXT]])), case((FAILED, [[BOOK]]))).saw
    assert (saw.metric, saw.base, saw.candidate) == ("quality", "1.00", "0.00 (turn 1: it is wrong)")
    assert diff_case(case((PASSED, [[TEXT]])), case((PASSED, [[TEXT]]))).saw == []


@pytest.mark.parametrize(
    ("outcome", "states", "sentence"),
    [
        (PASSED, ({"seats": 2}, {"seats": 2}), "no difference"),
        (FAILED, ({"seats": 2}, {"seats": 4, "paid": True}), "but another final session state: seats, paid"),
        (FAILED, (None, {"seats": None}), "but another final session state: seats"),
        (FAILED, (None, None), "but other scores: quality"),
    ],
    ids=["nothing", "values and keys", "a key without a value", "a score"],
)
def test_trials_with_the_same_steps_name_what_differs(
    outcome: Outcome, states: tuple[dict[str, object] | None, ...], sentence: str
) -> None:
    sides = case((PASSED, [[TEXT]])), case((outcome, [[TEXT]]))
    for side, state in zip(sides, states, strict=True):
        assert side.trials[0].trial is not None
        side.trials[0].trial.final_state = state
    assert case_diff_sentence(diff_case(*sides)).endswith(sentence)


def test_unreached_case_is_reported() -> None:
    empty = CaseResult("set", "case", Outcome.NOT_RUN)
    assert diff_case(case((PASSED, [[TEXT]])), empty).candidate == "was not run"
    out = io.StringIO()
    write_case_diff(diff_case(empty, empty), out)
    assert "no evidence of either is stored" in out.getvalue()


def test_long_steps_are_cut_and_nothing_a_terminal_obeys_goes_out() -> None:
    found = diff_case(case((PASSED, [[TEXT]])), case((FAILED, [[Event.said("\x1b[31m" + "long " * 200)]])))
    short, whole = io.StringIO(), io.StringIO()
    write_case_diff(found, short)
    write_case_diff(found, whole, options=ReportOptions(verbose=True))
    assert len(short.getvalue()) < 600 < len(whole.getvalue())
    assert "\x1b" not in short.getvalue() + whole.getvalue()
