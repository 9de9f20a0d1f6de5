"""One case of two runs side by side: the first step where two trials differ, and the scores of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from typing import TextIO

from proctor.common.json_values import JsonObject, json_line
from proctor.common.safe_text import count_text
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import (
    Block,
    Fact,
    Gap,
    Line,
    Role,
    TextSpan,
    TextStyle,
    join_with_dots,
)
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.reports.evidence.value_diff import cut_value
from proctor.reports.plain import write_blocks
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.content import Part
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.schema.results.score import MetricScore

_LONGEST = 200
"""Characters of a step that are shown, unless everything is asked for."""

Step = tuple[int, str]
"""The turn (from 0), and a message, call or answer in it."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The score and the reason of a deciding metric for both trials."""

    metric: str
    base: str
    candidate: str


@dataclass(slots=True)
class CaseDiff:
    """Two trials of one case, side by side."""

    name: str
    base: str
    """The number of the trial of the baseline, and its outcome."""
    candidate: str
    turn: int | None
    """The first turn (from 0) in which they differ; `None` if they are equal."""
    alike: int
    """The number of equal steps before."""
    steps: list[tuple[DiffKind, Step]] = field(default_factory=list)
    """The steps of that turn and of those after it: in both, only in the baseline (missing), or only in the candidate (extra)."""
    saw: list[MetricChange] = field(default_factory=list)
    state_keys: list[str] = field(default_factory=list)
    """The keys of the final session state that differ."""
    numbers: tuple[int | None, int | None] = (None, None)
    """The trial of the baseline and of the candidate (from 0); `None` if it was not run."""

    @property
    def lines(self) -> list[tuple[DiffKind, str]]:
        """The steps as text."""
        return [(kind, _text(step)) for kind, step in self.steps]


def diff_case(base: CaseResult, candidate: CaseResult) -> CaseDiff:
    """Compare a trial of each run; if the verdicts differ, a trial with the outcome of its case."""
    before, now = _place_of_trial(base, candidate), _place_of_trial(candidate, base)
    diff = CaseDiff(
        f"{candidate.eval_set_id}/{candidate.eval_id}",
        _trial_text(base, before),
        _trial_text(candidate, now),
        None,
        0,
        saw=[*_saw((base, before), (candidate, now))],
        state_keys=_state_keys((base, before), (candidate, now)),
        numbers=(_number(base, before), _number(candidate, now)),
    )
    steps = _steps(base, before), _steps(candidate, now)
    diff.alike = _common(*steps)
    rest = [one[diff.alike] for one in steps if diff.alike < len(one)]
    if rest:
        diff.turn = min(turn for turn, _ in rest)
        diff.steps = [*_lines(*([step for step in one if step[0] >= diff.turn] for one in steps))]
    return diff


def _place_of_trial(case: CaseResult, other: CaseResult) -> int:
    """The place of the first trial that ended as its case did, or else of the first that another case could learn from."""
    outcomes = [case.outcome]
    if other.outcome is case.outcome:
        outcomes = [Outcome.PASSED]
    ended = [trial.outcome for trial in case.trials]
    return next((ended.index(outcome) for outcome in outcomes if outcome in ended), 0)


def _number(case: CaseResult, place: int) -> int | None:
    return case.trials[place].number if case.trials else None


def _trial_text(case: CaseResult, place: int) -> str:
    if not case.trials:
        return "was not run"
    trial = case.trials[place]
    failure = f": {trial.failure.cause}" if trial.failure is not None else ""
    return f"trial {trial.number + 1} of {len(case.trials)}, {WORDS[trial.outcome]}{failure}"


# --- what was done ---------------------------------------------------------------------------------------------------


def _steps(case: CaseResult, place: int) -> list[Step]:
    trial = case.trials[place].trial if case.trials else None
    return [*_trial_steps(trial)] if trial is not None else []


def _trial_steps(trial: Trial) -> Iterator[Step]:
    for turn, one in enumerate(trial.turns):
        yield turn, f"user: {one.user_content.joined_text()}"
        for event in one.events:
            parts = (event.content.parts or ()) if event.content and not event.partial else ()
            yield from ((turn, text) for part in parts if (text := _part_text(part)))
            if event.state_delta:
                yield turn, f"state: {json_line(event.state_delta)}"
    if trial.failure is not None:
        yield max(0, len(trial.turns) - 1), f"failure: {trial.failure.cause}"


def _part_text(part: Part) -> str:
    """Return a call, its response or an answer; empty for a thought and other parts."""
    if call := part.function_call:
        return f"call: {call_text(call.name or '', call.args)}"
    if response := part.function_response:
        return f"returned: {response.name}: {json_line(response.response)}"
    return f"answer: {part.text}" if part.text and not part.thought else ""


def _state_keys(*sides: tuple[CaseResult, int]) -> list[str]:
    """Return the keys of the final session state that differ; none if a side has no evidence."""
    trials = [case.trials[place].trial if case.trials else None for case, place in sides]
    if None in trials:
        return []
    before, now = ((trial.final_state if trial is not None else None) or {} for trial in trials)
    return [
        key for key in {**before, **now} if (key in before, before.get(key)) != (key in now, now.get(key))
    ]


def _common(before: Sequence[Step], now: Sequence[Step]) -> int:
    both = zip(before, now, strict=False)
    return next((n for n, (a, b) in enumerate(both) if a != b), min(len(before), len(now)))


def _lines(before: Sequence[Step], now: Sequence[Step]) -> Iterator[tuple[DiffKind, Step]]:
    for tag, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((DiffKind.SAME, step) for step in before[a:b])
            continue
        yield from ((DiffKind.MISSING, step) for step in before[a:b])
        yield from ((DiffKind.EXTRA, step) for step in now[c:d])


def _text(step: Step) -> str:
    return f"turn {step[0] + 1}: {step[1]}"


# --- what the metrics saw --------------------------------------------------------------------------------------------


def _saw(base: tuple[CaseResult, int], candidate: tuple[CaseResult, int]) -> Iterator[MetricChange]:
    """Return the deciding metrics with different scores for the two trials."""
    for name, metric in candidate[0].metrics.items():
        if metric.gate:
            texts = [_score(case, place, name) for case, place in (base, candidate)]
            if texts[0] != texts[1]:
                yield MetricChange(name, *texts)


def _score(case: CaseResult, place: int, name: str) -> str:
    metric = case.metrics.get(name)
    score = metric.per_trial[place] if metric is not None and place < len(metric.per_trial) else None
    if metric is None or score is None:
        return "not scored"
    if score.failure is not None:
        return score.failure.cause
    why = "; ".join(_missed_turns(metric, score)) or score.reason
    number = "not applicable" if score.value is None else metric.text_of(score.value)
    return f"{number} ({why})" if why else number


def _missed_turns(metric: MetricVerdict, score: MetricScore) -> Iterator[str]:
    for turn, one in enumerate(score.per_invocation, 1):
        if one.reason and metric.judge(one).outcome is Outcome.FAILED:
            yield f"turn {turn}: {one.reason}"


# --- in words --------------------------------------------------------------------------------------------------------


def write_case_diff(diff: CaseDiff, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write it in the form that suits `out`."""
    write_blocks(partial(case_diff_blocks, diff), out, options)


def case_diff_sentence(diff: CaseDiff) -> str:
    """Return where the two part, in a few words."""
    if diff.turn is None:
        return _other_difference(diff) if diff.alike else "no evidence of either is stored"
    alike = count_text(diff.alike, "equal step")
    return f"first difference in turn {diff.turn + 1}, after {alike}"


def _other_difference(diff: CaseDiff) -> str:
    """Return what differs between two trials with the same steps."""
    if diff.state_keys:
        return f"the same steps, but another final session state: {', '.join(diff.state_keys)}"
    if diff.saw:
        return f"the same steps, but other scores: {', '.join(one.metric for one in diff.saw)}"
    return "no difference"


def case_diff_blocks(diff: CaseDiff, style: TextStyle) -> Iterator[Block]:
    """Return both trials as blocks: their steps from the turn in which they part, and the scores that differ."""
    sentence = case_diff_sentence(diff)
    yield Gap()
    name = TextSpan(diff.name, "strong", is_data=True)
    yield Line([*join_with_dots([name, TextSpan(sentence)], style)], record=("CASE", diff.name, sentence))
    for word, trial in (("baseline", diff.base), ("candidate", diff.candidate)):
        yield Fact(word, [[TextSpan(trial)]], (word.upper(), trial))
    yield Gap()
    for kind, text in diff.lines:
        yield _step_line(kind, text if style.verbose else cut_value(text, _LONGEST), style)
    for saw in diff.saw:
        yield Gap()
        yield Line([TextSpan(saw.metric, "strong", is_data=True)], indent=2, record=("SAW", saw.metric))
        for kind, text in ((DiffKind.MISSING, saw.base), (DiffKind.EXTRA, saw.candidate)):
            yield _step_line(kind, text, style)
    yield Gap()


_STEPS: dict[DiffKind, tuple[str, Role]] = {
    DiffKind.SAME: ("=", "dim"),
    DiffKind.MISSING: ("-", "bad"),
    DiffKind.EXTRA: ("+", "warning"),
}


def _step_line(kind: DiffKind, text: str, style: TextStyle) -> Line:
    sign, role = _STEPS[kind]
    spans = [TextSpan(f"{style.marks.steps[kind]} ", role), TextSpan(text, role, is_data=True)]
    return Line(spans, indent=2, record=(f"    {sign} {text}",))


# --- as JSON; docs/schemas/parting.schema.json has its form ---------------------------------------------------------

_IN = {DiffKind.SAME: "both", DiffKind.MISSING: "base", DiffKind.EXTRA: "candidate"}


def case_diff_data(diff: CaseDiff) -> JsonObject:
    """Return two trials as plain data; turns and trials count from 1, as everywhere that people read."""
    base, candidate = (None if number is None else number + 1 for number in diff.numbers)
    return {
        "version": 1,
        "case": diff.name,
        "sentence": case_diff_sentence(diff),
        "base": {"trial": base, "called": diff.base},
        "candidate": {"trial": candidate, "called": diff.candidate},
        "turn": None if diff.turn is None else diff.turn + 1,
        "alike": diff.alike,
        "steps": [{"in": _IN[kind], "turn": turn + 1, "said": text} for kind, (turn, text) in diff.steps],
        "saw": [{"metric": one.metric, "base": one.base, "candidate": one.candidate} for one in diff.saw],
    }
