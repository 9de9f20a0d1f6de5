"""The page of one trial: expected and actual conversation turn by turn, the final state, the failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.common.json_values import json_line
from proctor.reports.content.case_data import StoredCase, attempt_lines, view_trial
from proctor.reports.content.case_digest import reason_of
from proctor.reports.content.symbols import DiffKind
from proctor.reports.evidence.simulated_users import ending_of
from proctor.reports.evidence.trajectory_diff import state_difference
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_result import user_faults
from proctor.schema.results.run_result import CaseResult, MetricVerdict
from proctor.schema.results.score import MetricScore, Outcome, Score
from proctor.web.pages.base import copy_fields
from proctor.web.pages.case.case import show_command
from proctor.web.pages.case.page_parts import (
    CausePart,
    Clip,
    NotePart,
    ScorePart,
    cause_part,
    clip,
    score_part,
)
from proctor.web.pages.case.turn import Align, TurnPart, turn_part


class StateRow(PageModel):
    """One key of the final session state, or one inside of it."""

    key: str
    kind: DiffKind | None
    """Null if nothing is expected, or the comparison is unknown."""
    expected: Clip | None
    """As JSON or as text; null if the key is not expected."""
    actual: Clip | None
    """Null if the key is not set."""


class StatePart(PageModel):
    """The final session state."""

    known: bool
    """Whether the agent reported its state."""
    stated: bool
    """Whether a final state is expected."""
    rows: list[StateRow]


class PlayedPart(PageModel):
    """The simulated user."""

    simulator: str
    model: str
    opening: int | None
    """The number of recorded turns before the simulated ones."""
    ended: str
    """How the conversation ended."""
    faults: list[NotePart]


class TrialPage(PageModel):
    """One trial."""

    run_id: str
    position: int
    number: int
    """From 0."""
    trials: int
    """Trials of the case."""
    outcome: Outcome
    reason: str
    facts: list[str]
    """Usage figures as text, without the time (see `seconds`)."""
    attempts: list[str]
    notes: list[str]
    """Notes about this evidence."""
    kept: bool
    """Whether the evidence was stored; without it there are no turns."""
    started_at: float | None
    seconds: float | None
    session_id: str
    turns: list[TurnPart]
    scores: list[ScorePart]
    """The scores of the trial as a whole."""
    state: StatePart
    failure: CausePart | None
    """The failure that ended the trial."""
    played: PlayedPart | None
    """Null if the user's messages were recorded."""
    command: str


def trial_page(
    view: StoredCase,
    position: int,
    place: int,
    *,
    expected: EvalCase | None = None,
    align: Align | None = None,
) -> TrialPage:
    """Return the page of the trial at index `place` of a case.

    `expected`: the case as it was run; `align`: aligns the calls of a turn with the expected ones if no metric has stored
    its alignment (a metric that passed stores none by default).
    """
    case, result = view.case, view.case.trials[place]
    trial_view = view_trial(case, place)
    trial = trial_view.trial or Trial(eval_set_id=case.eval_set_id, eval_id=case.eval_id)
    faults = _faults(case, place)
    scored = [
        (metric, score)
        for metric in case.metrics.values()
        if (score := next(iter(metric.per_trial[place : place + 1]), None)) is not None
    ]
    return TrialPage(
        run_id=view.run_id,
        position=position,
        number=result.number,
        trials=len(case.trials),
        outcome=result.outcome,
        reason=reason_of(trial_view.alone),
        facts=trial_view.facts(timed=False),
        attempts=attempt_lines(view.earlier.get(result.number, ())),
        notes=list(trial.notes),
        kept=trial_view.trial is not None,
        started_at=trial.started_at or None,
        seconds=trial.duration or None,
        session_id=trial.session_id,
        turns=_turns(trial, expected, scored, faults, align),
        scores=[score_part(metric, score) for metric, score in scored],
        state=_state(trial, expected, scored),
        failure=cause_part(result.failure),
        played=_simulated_user(trial, faults),
        command=show_command(view, result.number),
    )


# --- turns -------------------------------------------------------------------------------------------------------------

_Scored = Sequence[tuple[MetricVerdict, MetricScore]]


def _turns(
    trial: Trial,
    expected: EvalCase | None,
    scored: _Scored,
    faults: Sequence[tuple[int, NotePart]],
    align: Align | None,
) -> list[TurnPart]:
    expected_turns: Sequence[Invocation] = (expected.conversation or []) if expected is not None else []
    failure = trial.failure
    return [
        turn_part(
            index,
            turn,
            actual,
            expected_turns[index] if index < len(expected_turns) else None,
            _turn_scores(scored, index),
            failure=failure if failure is not None and failure.turn == index else None,
            notes=[note for at, note in faults if at == index],
            align=align,
        )
        for index, (turn, actual) in enumerate(zip(trial.turns, trial.invocations, strict=True))
    ]


def _turn_scores(scored: _Scored, index: int) -> list[tuple[MetricVerdict, Score]]:
    return [
        (metric, score.per_invocation[index]) for metric, score in scored if index < len(score.per_invocation)
    ]


# --- state -------------------------------------------------------------------------------------------------------------


def _state(trial: Trial, expected: EvalCase | None, scored: _Scored) -> StatePart:
    actual = trial.final_state
    expected_state = (expected.final_session_state or {}) if expected is not None else {}
    entries = _recorded_comparison(scored) or _compare_state(
        expected_state, actual, passed=_state_passed(scored)
    )
    rows = [row for entry in entries for row in _rows(entry)]
    compared = {str(entry.get("key")) for entry in entries}
    for key, value in (actual or {}).items():
        if key not in compared:
            rows.append(StateRow(key=key, kind=None, expected=None, actual=clip(json_line(value))))
    return StatePart(known=actual is not None, stated=bool(entries), rows=rows)


def _recorded_comparison(scored: _Scored) -> list[Mapping[str, object]]:
    """Return the comparison of the state that a metric has stored."""
    recorded = next((state for _, score in scored if (state := (score.details or {}).get("state"))), None)
    return [entry for entry in recorded if isinstance(entry, Mapping)] if recorded else []


def _state_passed(scored: _Scored) -> bool:
    """Return whether the metric of the final state passed; it then stores no comparison."""
    of_state = [score for metric, score in scored if metric.name == "final_session_state"]
    return any(score.value == 1 for score in of_state)


def _compare_state(
    expected: Mapping[str, object], actual: Mapping[str, object] | None, *, passed: bool
) -> list[Mapping[str, object]]:
    """Compare each expected key, if no metric has stored a comparison."""
    entries: list[Mapping[str, object]] = []
    for key, value in expected.items():
        entry = {"key": key, "expected": value, "kind": "missing" if actual is not None else None}
        if actual is not None and key in actual:
            is_equal = passed or actual[key] == value
            entry |= {"actual": actual[key], "kind": "matched" if is_equal else "differs"}
        entries.append(entry)
    return entries


def _rows(entry: Mapping[str, object]) -> list[StateRow]:
    if entry.get("kind") == "matched":
        sides = [clip(json_line(entry[side])) if side in entry else None for side in ("expected", "actual")]
        return [
            StateRow(key=str(entry.get("key", "")), kind=DiffKind.SAME, expected=sides[0], actual=sides[1])
        ]
    if entry.get("kind") is None:  # the final state is unknown
        expected = clip(json_line(entry.get("expected")))
        return [StateRow(key=str(entry.get("key", "")), kind=None, expected=expected, actual=None)]
    return [
        StateRow(
            key=line.key,
            kind=line.kind,
            expected=clip(line.expected) if line.expected else None,
            actual=clip(line.actual) if line.actual else None,
        )
        for line in state_difference([entry], full=True).lines
    ]


# --- the simulated user ---------------------------------------------------------------------------------------------------


def _faults(case: CaseResult, place: int) -> list[tuple[int, NotePart]]:
    faults = []
    for fault in user_faults(case, place):
        judge = " (found by an LLM judge)" if fault.found_by == "judge" else ""
        quoted = f": “{fault.evidence}”" if fault.evidence else ""
        note = NotePart(label="user at fault", text=f"{fault.kind.words}: {fault.why}{judge}{quoted}")
        faults.append((fault.turn, note))
    return faults


def _simulated_user(trial: Trial, faults: Sequence[tuple[int, NotePart]]) -> PlayedPart | None:
    user = trial.played_user
    if user is None:
        return None
    return copy_fields(PlayedPart, user, ended=ending_of(trial), faults=[note for _, note in faults])
