"""What a comparison must never say at once: about a measure, a case, the outcome, and verdicts that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.analysis.compare.outcome_text import (
    OUTCOME_NAMES,
    case_fell_before_correction,
)
from proctor.schema.analysis.comparison import (
    PASSED,
    CaseChange,
    Change,
    ChangedCase,
    Comparison,
    InGeneral,
    Measured,
)
from proctor.stats.unequal_counts import TwoCounts
from tests.analysis.compare.drawn_comparisons import Drawn

EXIT_CODES = {
    Change.REGRESSION: 1, Change.ERROR: 3, Change.INCONCLUSIVE: 4,
    Change.IMPROVEMENT: 0, Change.NO_REGRESSION: 0, Change.NO_DIFFERENCE: 0,
}  # fmt: skip
_ROUNDING = 1e-9
_EQUAL = 1e-12
"""p-values and levels that differ by less are the same; a p-value above its level is larger by a billionth of it."""


def contradictions(found: Comparison) -> list[str]:
    """Return every contradiction in a comparison, as sentences."""
    general = [] if found.general is None else [*_of_interval(found.general, "in general")]
    measures = [text for one in found.measures for text in _of_measure(one)]
    return [*measures, *general, *_of_outcome(found), *_of_cases(found), *_of_sentences(found)]


# --- interval and p-value --------------------------------------------------------------------------------------------


def _of_interval(one: Measured | InGeneral, name: str) -> Iterator[str]:
    is_outside = not one.low <= 0 <= one.high
    if is_outside != (one.p_value <= 1 - one.confidence + _EQUAL):
        yield f"{name}: p = {one.p_value} at {1 - one.confidence}, and the interval is {one.low} to {one.high}"
    if not one.low - _ROUNDING <= one.difference <= one.high + _ROUNDING:
        yield f"{name}: {one.difference} is outside of its interval, {one.low} to {one.high}"
    if not 0 < one.p_value <= 1:
        yield f"{name}: p = {one.p_value}"


def _of_measure(one: Measured) -> Iterator[str]:
    yield from _of_interval(one, one.name)
    if abs(one.candidate - one.base - one.difference) > 1e-6 * max(1.0, abs(one.base)):
        yield f"{one.name}: {one.base} and {one.candidate} do not differ by {one.difference}"
    is_worse = one.low > 0 if one.lower_is_better else one.high < 0
    is_better = one.high < 0 if one.lower_is_better else one.low > 0
    expected = "worse" if is_worse else "better" if is_better else ""
    if one.verdict != expected:
        yield f"{one.name}: called {one.verdict!r}, and its interval says {expected!r}"
    if one.verdict == "worse" and not one.is_drop:
        yield f"{one.name}: worse without a drop"


# --- the outcome and what it rests on --------------------------------------------------------------------------------


def _of_outcome(found: Comparison) -> Iterator[str]:
    if found.exit_code != EXIT_CODES[found.outcome] or bool(found) != (found.exit_code == 0):
        yield f"exit code {found.exit_code} of {found.outcome}"
    if not found.sentence.startswith(f"{OUTCOME_NAMES[found.outcome]}: "):
        yield f"{found.outcome} with the sentence {found.sentence}"
    worse = [one.name for one in found.measures if one.decides and one.verdict == "worse"]
    general = found.general is not None and found.general.is_regression
    is_sure = "the agent is deterministic" in found.sentence and bool(found.changed(CaseChange.NOW_FAILS))
    if (found.outcome is Change.REGRESSION) != bool(worse or found.significant_cases or general or is_sure):
        yield f"{found.outcome}, and worse are {worse}, {found.significant_cases}, in general {general}"
    if not any(one.name == PASSED and not one.apart for one in found.measures):
        return
    match found.outcome:
        case Change.IMPROVEMENT:
            yield from _of_improvement(found)
        case Change.NO_DIFFERENCE:
            yield from _of_no_difference(found)
        case Change.INCONCLUSIVE:
            yield from _of_inconclusive(found)
    is_open = found.outcome in (Change.NO_DIFFERENCE, Change.INCONCLUSIVE)
    if is_open and found.general is not None and found.general.lowest >= -found.margin:
        yield f"{found.outcome}, and a drop of more than the margin is ruled out"


def _of_improvement(found: Comparison) -> Iterator[str]:
    if found.measure(PASSED).difference < -_ROUNDING:
        yield "an improvement with a lower pass rate"
    if found.general is not None and found.general.high < 0:
        yield "an improvement, and worse in general"


def _of_no_difference(found: Comparison) -> Iterator[str]:
    if found.changed(CaseChange.NOW_FAILS):
        yield "no difference seen, and a case now fails"
    fallen = [one.name for one in found.measures if one.fell_before_correction]
    if fallen:
        yield f"no difference seen, and {fallen} fell"
    dropped = [one for one in found.cases if _dropped(one)]
    if dropped:
        yield f"no difference seen, and {dropped} fell"
    lower = [one.name for one in found.measures if one.decides and one.is_drop]
    if "nothing fell" in found.sentence and (lower or found.cases_with_fewer_passes):
        yield f"nothing fell, and {lower} is lower, or a case passes fewer trials"


def _dropped(case: ChangedCase) -> bool:
    before, now = case.base, case.candidate
    if not (before.total and now.total) or before.other or now.other:
        return False
    return case_fell_before_correction(TwoCounts(before.passed, before.total, now.passed, now.total))


def _of_inconclusive(found: Comparison) -> Iterator[str]:
    reasons = {
        "passed and now fail": bool(found.changed(CaseChange.NOW_FAILS)),
        "far fewer trials": bool(found.changed(CaseChange.FEWER_TRIALS)),
        "within the noise of unequal numbers": bool(found.changed(CaseChange.WITHIN_NOISE)),
        "not significant after correction": any(one.fell_before_correction for one in found.measures)
        or "far fewer trials" in found.sentence,
        "a regression cannot be excluded": bool(found.missing_base or found.missing_candidate),
        "is not ruled out": found.general is not None and found.general.lowest < -found.margin,
    }
    stated = {text: text in found.sentence for text in reasons}
    if not any(stated.values()):
        yield f"inconclusive without a reason: {found.sentence}"
    for text, holds in reasons.items():
        if stated[text] and not holds:
            yield f"not so: {found.sentence}"


# --- the lines of the cases ------------------------------------------------------------------------------------------


def _of_cases(found: Comparison) -> Iterator[str]:
    lines = {one.name: one for one in found.cases}
    for one in found.significant_cases:
        line = lines.get(one.name)
        if line is None or line.change in (
            CaseChange.NOW_IN_ERROR,
            CaseChange.NOW_PASSES,
            CaseChange.NO_LONGER_IN_ERROR,
            CaseChange.MORE_TRIALS,
            CaseChange.WITHIN_NOISE,
        ):
            yield f"{one.name} is significantly worse, and its line is {line}"
    for case in found.cases:
        yield from _of_line(case)
    passed = next((one for one in found.measures if one.name == PASSED), None)
    fell = found.cases_with_fewer_passes or found.changed(CaseChange.MISSING)
    if passed is not None and passed.verdict == "worse" and not fell:
        yield "the pass rate is worse, and no case is"


def _of_line(case: ChangedCase) -> Iterator[str]:
    before, now = case.base, case.candidate
    least = before.passed / before.total if before.total else 0.0
    most = (now.passed + now.other) / now.total if now.total else 1.0
    if case.change is CaseChange.FEWER_TRIALS and most >= least:
        yield f"{case.name}: fewer trials pass, and {before} became {now}"
    if case.change is CaseChange.NOW_FAILS and not now.failed:
        yield f"{case.name}: now fails without a failed trial"
    if case.change is CaseChange.MISSING and all(one.total and not one.other for one in (before, now)):
        yield f"{case.name}: no verdict is missing"


def _of_sentences(found: Comparison) -> Iterator[str]:
    if "significantly worse" in found.on_these_cases and found.outcome is not Change.REGRESSION:
        yield f"{found.outcome}, and on these cases: {found.on_these_cases}"
    rules_out = found.general is not None and found.general.lowest >= -found.margin
    if found.in_general.endswith("points is ruled out") and not rules_out:
        yield f"{found.in_general}, and the bound is {found.general}"


# --- missing verdicts ------------------------------------------------------------------------------------------------

_GREEN = {Change.IMPROVEMENT, Change.NO_REGRESSION, Change.NO_DIFFERENCE}
_ADMITS = {
    Change.REGRESSION: {Change.REGRESSION},
    Change.IMPROVEMENT: {Change.IMPROVEMENT},
    Change.NO_REGRESSION: {Change.IMPROVEMENT, Change.NO_REGRESSION},
    Change.NO_DIFFERENCE: _GREEN,
    Change.INCONCLUSIVE: {*_GREEN, Change.INCONCLUSIVE},
    Change.ERROR: {*Change},
}


def is_misled(drawn: Drawn) -> bool:
    """Return whether the outcome is not that of the comparison in which the missing verdicts have their values.

    A few missing verdicts (2 %, or one) of cases of which most trials passed may be single trials that failed; and if a case
    fell, they may be what makes its fall significant.
    """
    found, complete = drawn.found, drawn.complete
    if complete.outcome in _ADMITS[found.outcome]:
        return False
    total = drawn.trials_of_candidate
    is_single = found.outcome is Change.NO_DIFFERENCE and complete.outcome is Change.INCONCLUSIVE
    has_fallen = any(text in found.sentence for text in ("now fail", "far fewer trials", "within the noise"))
    is_fall = found.outcome is Change.INCONCLUSIVE and has_fallen
    return not ((is_single or is_fall) and found.missing_candidate <= max(1, 0.02 * total))
