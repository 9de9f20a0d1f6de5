"""What is shown of a case that did not pass, and what is not."""

from proctor.reports.content.case_digest import reason_of, warnings_beside, warnings_of
from proctor.reports.content.text_blocks import Cause, Remark, StateDifference, Steps, TextDifference
from proctor.reports.evidence.case_evidence import evidence_block, evidence_of
from proctor.reports.plain import evidence_lines
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.run_result import CaseResult, MetricVerdict
from proctor.schema.results.score import MetricScore, Score
from tests.reports.sample_runs import (
    TRAJECTORY,
    E,
    F,
    P,
    U,
    case,
    crashed,
    extra,
    good,
    metric,
    trial,
    wrong_covers,
)


def kinds(result: CaseResult, *, full: bool = False) -> list[tuple[int, int | None, list[str]]]:
    return [
        (trial.trial, section.turn, [type(block).__name__ for block in section.blocks])
        for trial in evidence_of(result, full=full)
        for section in trial.sections
    ]


def test_a_passing_case_has_nothing_to_show() -> None:
    assert evidence_of(good("a", 3)) == []
    assert reason_of(good("a")) == ""


def test_failed_turns_of_the_first_failed_trial_precede_the_whole_trial() -> None:
    assert kinds(wrong_covers()) == [(2, 1, ["Steps", "TextDifference"]), (2, None, ["StateDifference"])]


def test_every_such_trial_where_all_is_asked_for() -> None:
    assert [number for number, turn, _ in kinds(wrong_covers(), full=True) if turn == 1] == [2, 3, 4]


def test_user_message_is_above_the_turn() -> None:
    assert [section.user_text for section in evidence_of(wrong_covers())[0].sections] == ["La Trattoria.", ""]


def test_without_kept_evidence_the_words_are_missing_and_nothing_else() -> None:
    result = wrong_covers()
    for each in result.trials:
        each._evidence = None
    assert [section.user_text for section in evidence_of(result)[0].sections] == ["", ""]
    assert kinds(result) == kinds(wrong_covers())


def test_an_error_shows_its_cause_in_its_trial_and_turn() -> None:
    (evidence,) = evidence_of(crashed())
    assert evidence.trial == 4
    (section,) = evidence.sections
    assert section.turn == 0
    assert section.blocks == [
        Cause(
            "agent raised",
            "KeyError: 'covers'",
            "travel/tools.py:42 in book_table",
            'covers = args["covers"]',
        )
    ]


def test_alike_failures_are_shown_once() -> None:
    def failed(n: int, message: str) -> Failure:
        return Failure(where="agent", type="OSError", message=message, turn=0)

    trials = [trial(n, E, failure=failed(n, "down" if n < 3 else "up")) for n in range(4)]
    result = case("a", E, reason="", trials=trials)
    assert [number for number, _, _ in kinds(result)] == [0, 3]
    assert [number for number, _, _ in kinds(result, full=True)] == [0, 1, 2, 3]
    assert reason_of(result) == "agent raised in turn 1: OSError: down"


def test_a_metric_that_broke_shows_why() -> None:
    broken = MetricScore(
        failure=Failure(where="metric", type="ZeroDivisionError", message="division by zero")
    )
    result = case("a", E, metric("politeness", [broken], 0.5, E))
    (section,) = evidence_of(result)[0].sections
    assert section.blocks == [Cause("politeness: metric raised", "ZeroDivisionError: division by zero")]


def test_an_error_that_a_turn_gives_as_its_reason_is_there_once() -> None:
    failure = Failure(where="judge", kind=FailureKind.BROKE_CONTRACT, message="0 of 3 votes gave a verdict")
    undecided = Score(reason="the judge could not decide: 0 of 3 votes gave a verdict")
    broken = MetricScore(per_invocation=[undecided], failure=failure)
    result = case(
        "a", F, metric("polite", [broken], 0.5, E), metric("short", [0.0], 0.5), reason="short 0.00 < 0.5"
    )
    assert "\n".join(evidence_lines(evidence_block(result))).count("0 of 3 votes") == 1


def test_a_trial_whose_reason_is_above_has_no_heading() -> None:
    broken = MetricScore(failure=Failure(where="metric", message="division by zero"))
    why = "politeness: metric raised: division by zero"
    result = case(
        "a", E, metric("politeness", [broken] * 2, 0.5, E), reason=why, trials=[trial(0, E), trial(1, E)]
    )
    assert list(evidence_lines(evidence_block(result))) == []


def test_a_metric_without_details_gives_its_reason() -> None:
    score = MetricScore(
        value=0.0,
        per_invocation=[Score(0.0, reason="rude in every sentence", warning="only one word to judge")],
    )
    result = case("a", F, metric("politeness", [score], 0.5))
    (section,) = evidence_of(result)[0].sections
    assert section.blocks == [
        Remark("politeness", "rude in every sentence"),
        Remark("warning", "only one word to judge"),
    ]
    assert warnings_of(result) == ["politeness: only one word to judge"]
    assert warnings_beside(result) == []  # the evidence has them


def test_metric_without_an_explanation_is_marked_in_the_row() -> None:
    result = case("a", F, metric("politeness", [0.0], 0.5))
    assert kinds(result) == []
    assert reason_of(result) == "politeness gives no reason"


def test_a_metric_that_does_not_gate_is_left_out() -> None:
    miss = MetricScore(value=0.0, per_invocation=[Score(0.0, details={"alignment": [extra("f")]})])
    result = case(
        "a", F, metric(TRAJECTORY, [miss], 1.0, gate=False), metric("politeness", [0.0], 0.5, reason="rude")
    )
    assert kinds(result) == [(0, None, ["Remark"])]


def test_reason_for_not_applicable_is_shown_in_full_mode() -> None:
    from proctor.schema.results.run_result import Outcome

    silent = metric("final_session_state", [None], 1.0, Outcome.NOT_APPLICABLE, reason="the case states none")
    result = case("a", F, metric("politeness", [0.0], 0.5, reason="rude"), silent)
    section = evidence_of(result, full=True)[0].sections[-1]
    assert section.blocks[-1] == Remark("not applicable", "final_session_state: the case states none")


def test_details_of_a_strange_shape_are_not_drawn() -> None:
    strange = {"alignment": "none", "text": ["a"], "state": [1, None], "other": object()}
    score = MetricScore(
        value=0.0, per_invocation=[Score(0.0, reason="odd", details=strange)], details={"alignment": 7}
    )
    assert kinds(case("a", F, metric("mine", [score], 1.0))) == [(0, 0, ["Remark"])]


def test_the_reason_falls_back_to_the_metric_that_decided() -> None:
    undecided = metric("b", [0.5], 0.9, U, reason="needs 30 more trials")
    assert reason_of(case("a", U, metric("a", [1.0]), undecided)) == "needs 30 more trials"
    assert reason_of(case("a", F, metric("m", [0.0], 0.5), reason="from the engine")) == "from the engine"


def test_block_types_are_the_documented_ones() -> None:
    blocks = [block for section in evidence_of(wrong_covers())[0].sections for block in section.blocks]
    steps, text, state = blocks
    assert isinstance(steps, Steps)
    assert isinstance(text, TextDifference)
    assert isinstance(state, StateDifference)
    assert [line.key for line in state.lines] == ["covers", "confirmed"]


def test_evidence_of_a_passing_trial_is_never_picked() -> None:
    result = wrong_covers()
    assert all(result.trials[evidence.trial].outcome is not P for evidence in evidence_of(result, full=True))


def test_equal_drawings_of_two_metrics_are_drawn_once() -> None:
    def missed(name: str, actual: str, reason: str) -> MetricVerdict:
        details = {"text": {"expected": "It is sunny.", "actual": actual}}
        score = Score(0.0, reason=reason, details=details)
        return metric(name, [MetricScore(value=0.0, per_invocation=[score])], 0.5)

    same = [missed("rouge_1", "It rains.", "no word"), missed("exact_match", "It rains.", "not equal")]
    other = missed("regex_match", "It pours.", "no match")
    (section,) = evidence_of(case("a", F, *same, other))[0].sections
    assert [type(block).__name__ for block in section.blocks] == [
        "TextDifference",
        "Remark",
        "Remark",
        "TextDifference",
    ]
    assert section.blocks[1:3] == [Remark("exact_match", "not equal"), Remark("regex_match", "no match")]
    (section,) = evidence_of(case("a", F, *same), full=True)[0].sections
    assert [block for block in section.blocks if isinstance(block, TextDifference)] == section.blocks[:1]
    assert {block.text for block in section.blocks if isinstance(block, Remark)} == {"no word", "not equal"}


def test_the_second_alignment_of_a_turn_is_below_the_name_of_its_metric() -> None:
    both = [
        metric(
            name,
            [MetricScore(0.0, [Score(0.0, reason=f"{call} is wrong", details={"alignment": [extra(call)]})])],
        )
        for name, call in (("trajectory_rules", "send_sms"), ("tool_expectations", "book_table"))
    ]
    (trial_evidence,) = evidence_of(case("a", F, *both))
    [section] = trial_evidence.sections
    assert [type(block) for block in section.blocks] == [Steps, Remark, Steps]
    assert section.blocks[1] == Remark("tool_expectations", "book_table is wrong")
