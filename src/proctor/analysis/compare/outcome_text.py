"""A comparison in words: its outcome with its basis, the answer to each of the two questions, and the numbers of its rows.

All reports of a comparison and its page share them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.analysis.compare.error_rates import Detectable
from proctor.analysis.compare.futility import FUTILE
from proctor.analysis.compare.measure_table import (
    TOO_FEW,
    has_general_interval,
    is_too_few,
    numbers,
    values_text,
)
from proctor.common.safe_text import clean, count_text
from proctor.reports.content.summary import percent, points, rounded
from proctor.reports.content.symbols import Marks
from proctor.schema.analysis.comparison import (
    PASSED,
    UNCORRECTED,
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Look,
    Measured,
    Trials,
)
from proctor.schema.results.score import Outcome
from proctor.stats.unequal_counts import TwoCounts, case_test

_NOT_ALIKE = "pass and fail were not scored alike in both runs"
_NO_VERDICTS = "no case has a verdict in both runs"
_MOST_NAMED = 3
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What the sentences of a comparison rest on, besides its figures."""

    has_verdicts: bool
    """Whether a case has a verdict in both runs."""
    could_fall: bool
    """Whether any trial of the baseline passed."""
    may_have_fallen: bool
    """Whether something fell, or would have with the worst values of the missing verdicts."""
    deterministic: bool
    require_proof: bool
    detectable: Detectable | None
    """The drop that would have been noticed, if no difference was seen."""


def write_sentences(comparison: Comparison, basis: Basis) -> None:
    """Write the sentences of a comparison into it."""
    if basis.has_verdicts:
        comparison.on_these_cases = _on_these_cases(comparison, deterministic=basis.deterministic)
        comparison.in_general = _in_general(comparison)
    elif comparison.pairs:
        comparison.on_these_cases = comparison.in_general = _NO_VERDICTS
    reason = (
        f"{_NO_VERDICTS}: {missing_text(comparison)}"
        if comparison.outcome is Change.ERROR and comparison.pairs and not basis.has_verdicts
        else _reason(comparison, basis)
    )
    comparison.sentence = f"{OUTCOME_NAMES[comparison.outcome]}: {reason}{_basis(comparison)}"


OUTCOME_NAMES = {one: one.value.replace("_", " ") for one in Change} | {
    Change.NO_DIFFERENCE: "no difference seen"
}


def confidence_text(confidence: float) -> str:
    """Return the name of an interval: `95 % CI`."""
    digits = 3 if confidence < 0.9995 else 5  # 99.99 % is not 100 %
    return f"{100 * confidence:.{digits}g} % CI"


def change_text(one: Measured, *, has_interval: bool = True) -> str:
    """Return the change of one measure, with its confidence interval."""
    way = "fell" if one.difference < 0 else "rose" if one.difference > 0 else "stayed"
    level = confidence_text(one.confidence)
    if one.name != PASSED:
        base, candidate = rounded(one.base), rounded(one.candidate)
        moved = f"from {base} to {candidate}" if one.difference else f"at {candidate}"
        difference, low, high = (rounded(value, 2, "+") for value in (one.difference, one.low, one.high))
        interval = f"{level}: {low} to {high}" if low != high else ""
        if not one.known:
            return f"{one.name} {way}, in no case with all of its scores ({interval})"
        return f"{one.name} {way} {moved} ({', '.join(filter(None, (difference, interval)))})"
    *_, difference, low, high = numbers(one)
    interval = f" ({level}: {low} to {high})" if has_interval and low != high else ""
    return f"{_rate_name(one)} {way} {_moved(one)}, {difference} points{interval}"


def _moved(passed: Measured) -> str:
    """Return both pass rates: `from 80 % (4 of 5) to 60 % (3 of 5)`, `at 75 % (3 of 4, now 6 of 8)`."""
    base, candidate = values_text(passed)
    if passed.difference:
        return f"from {base} to {candidate}"
    return f"at {base}" if base == candidate else f"at {base[:-1]}, now {candidate.partition('(')[2]}"


def _rate_name(passed: Measured) -> str:
    if passed.trials is not None:
        return "the pass rate of the trials"
    return f"the mean pass rate of {count_text(passed.known or passed.pairs, 'case')}"


# --- the two questions -------------------------------------------------------------------------------------------------


def _on_these_cases(comparison: Comparison, *, deterministic: bool) -> str:
    if not comparison.pairs:
        return ""
    passed = comparison.measure(PASSED)
    if passed.apart:
        return _NOT_ALIKE
    too_few = is_too_few(comparison, passed)
    worse = ""
    if comparison.significant_cases:
        worse = f"{_cases_text(len(comparison.significant_cases))} significantly worse; "
    elif deterministic and comparison.changed(CaseChange.NOW_FAILS):
        worse = f"{_falls_text(comparison)}, and the agent is deterministic; "
    results = {"worse": "significantly worse", "better": "significantly better", "": "not significant"}
    verdict = TOO_FEW if too_few else results[passed.verdict] if passed.difference else ""
    return f"{worse}{change_text(passed, has_interval=not too_few)}{f': {verdict}' if verdict else ''}"


def _in_general(comparison: Comparison) -> str:
    if comparison.general is None:
        return ""
    if comparison.measure(PASSED).apart:
        return _NOT_ALIKE
    one = comparison.general
    if not has_general_interval(comparison):
        return f"{TOO_FEW}; a drop of more than {_margin(comparison)} is not ruled out for cases like these"
    level = confidence_text(one.confidence)
    interval = f"{points(one.low)} to {points(one.high)}"
    text = (
        f"for cases like these a change of {points(one.difference)} points is estimated ({level}: {interval})"
    )
    if one.high < 0:
        return f"{text}{_WORSE}"
    if one.lowest >= -comparison.margin:
        return f"{text}; one-sided, a drop of more than {_margin(comparison)} is ruled out"
    return f"{text}; one-sided, a drop of more than {_margin(comparison)} is not ruled out"


_WORSE = ": significantly worse"


def _cases_text(count: int) -> str:
    return "1 case is" if count == 1 else f"{count:,} cases are"


# --- the reason of the outcome -----------------------------------------------------------------------------------------


def _reason(comparison: Comparison, basis: Basis) -> str:
    match comparison.outcome:
        case Change.REGRESSION:
            return _regression(comparison)
        case Change.IMPROVEMENT:
            return _improvement(comparison)
        case Change.NO_REGRESSION:
            return _no_regression(comparison)
        case Change.NO_DIFFERENCE if not basis.could_fall:
            return "nothing could fall, because no trial of the baseline passes"
        case Change.NO_DIFFERENCE:
            text = _no_difference(comparison)
            return text if basis.detectable is None else f"{text}; {detectable_text(basis.detectable)}"
        case Change.ERROR:
            return _error(comparison)
        case Change.INCONCLUSIVE:
            return _inconclusive(comparison, basis)


def _regression(comparison: Comparison) -> str:
    parts = []
    if comparison.significant_cases:
        names = _named([one.name for one in comparison.significant_cases])
        parts.append(f"{_cases_text(len(comparison.significant_cases))} significantly worse ({names})")
    parts += [change_text(one) for one in comparison.measures if one.decides and one.verdict == "worse"]
    if comparison.general is not None and comparison.general.is_regression:
        parts.append(f"in general {comparison.in_general.removesuffix(_WORSE)}")
    return ", ".join(parts) or f"the agent is deterministic, and {_falls_text(comparison)}"


def _improvement(comparison: Comparison) -> str:
    parts = [change_text(one) for one in comparison.measures if one.decides and one.verdict == "better"]
    return ", ".join(parts) or "cases are significantly better"


def _no_regression(comparison: Comparison) -> str:
    one = comparison.measure(PASSED)
    lowest = 0.0 if comparison.general is None else comparison.general.lowest
    confidence = f"{100 * comparison.confidence:.3g} % confidence"
    base, candidate = values_text(one)
    rates = f"{_rate_name(one)} was {base} and is {candidate}"
    return f"{rates}; a drop of more than {percent(max(0.0, -lowest))} points is ruled out (one-sided, {confidence})"


def _no_difference(comparison: Comparison) -> str:
    has_drop = any(one.decides and one.is_drop for one in comparison.measures)
    is_worse = has_drop or comparison.cases_with_fewer_passes
    text = "no case that passed now fails, and no drop is significant" if is_worse else "nothing fell"
    return "; ".join(filter(None, (text, missing_text(comparison))))


def detectable_text(detectable: Detectable) -> str:
    """Return which drop would have been noticed."""
    parts = []
    if detectable.case_rate == 0:
        parts.append("one case that fails in every trial")
    elif detectable.case_rate is not None:
        parts.append(f"one case that drops from 100 % to {percent(detectable.case_rate)} %")
    if detectable.overall is not None:
        parts.append(f"an overall drop of {percent(detectable.overall)} points")
    if not parts:
        return "with so few trials, chance could not have been ruled out for any drop"
    return f"{' or '.join(parts)} would be noticed in 80 % of comparisons"


def _inconclusive(comparison: Comparison, basis: Basis) -> str:
    passed = comparison.measure(PASSED)
    if passed.apart:
        return (
            f"{_NOT_ALIKE}, so that they are not comparable: "
            "`proctor score RUN --config FILE` re-scores one run like the other, and calls no agent"
        )
    parts = [*_fall_parts(comparison)]
    missing = missing_text(comparison)
    if missing and basis.may_have_fallen:
        parts.append(f"a regression cannot be excluded: {missing}")
    if not parts or basis.require_proof:
        parts.append(f"a drop of more than {_margin(comparison)} is not ruled out for cases like these")
    if missing and not basis.may_have_fallen:
        parts.append(missing)
    return "; ".join(parts)


def _fall_parts(comparison: Comparison) -> Iterator[str]:
    """Yield what fell."""
    if comparison.changed(CaseChange.NOW_FAILS):
        yield f"{_falls_text(comparison)}, not significant"
    if dropped := [one.name for one in filter(_has_dropped, comparison.changed(CaseChange.FEWER_TRIALS))]:
        cases = count_text(len(dropped), "case")
        yield f"far fewer trials pass in {cases} ({_named(dropped)}), not significant after correction"
    fewer = comparison.cases_with_fewer_passes
    if noise := [one.name for one in fewer if one.change is CaseChange.WITHIN_NOISE]:
        cases = count_text(len(noise), "case")
        yield f"fewer trials pass in {cases} ({_named(noise)}), within the noise of unequal numbers of trials"
    for one in comparison.measures:
        if one.fell_before_correction and not one.verdict:
            yield f"{change_text(one)}, not significant after correction"


def case_fell_before_correction(case: TwoCounts) -> bool:
    """Return whether a case passes significantly fewer trials, as if it were the only one."""
    return case_test(case)[0] <= UNCORRECTED / 2  # one-sided


def _error(comparison: Comparison) -> str:
    if not comparison.pairs:
        return "no case of one run is in the other one"
    return f"a regression cannot be excluded: {missing_text(comparison)}"


def missing_text(comparison: Comparison) -> str:
    """Return which verdicts are missing, in one sentence; empty if none is."""
    return "; ".join(filter(None, (_counted_text(comparison), _unknown_text(comparison))))


def _unknown_text(comparison: Comparison) -> str:
    """Return the sets that neither run could run: `the verdicts of a.json are missing in both runs`."""
    names = _named(comparison.unknown_sets)
    return f"the verdicts of {names} are missing in both runs" if names else ""


def _counted_text(comparison: Comparison) -> str:
    """Return how many verdicts are missing: `8 verdicts of the candidate are missing`; empty if none is."""
    counts = (("baseline", comparison.missing_base), ("candidate", comparison.missing_candidate))
    parts = [f"{count:,} of the {word}" for word, count in counts if count]
    total = comparison.missing_base + comparison.missing_candidate
    noun = count_text(total, "verdict")
    if len(parts) == 1:
        return f"{noun} of the {parts[0].split()[-1]} {'is' if total == 1 else 'are'} missing"
    return f"{noun} are missing ({' and '.join(parts)})" if parts else ""


def _has_dropped(case: ChangedCase) -> bool:
    """Return whether a case passes significantly fewer trials before correction, whatever the missing verdicts are."""
    before, now = case.base, case.candidate
    return case_fell_before_correction(
        TwoCounts(before.passed, before.total, now.passed + now.other, now.total)
    )


def _falls_text(comparison: Comparison) -> str:
    names = [one.name for one in comparison.changed(CaseChange.NOW_FAILS)]
    verb = "fails" if len(names) == 1 else "fail"
    return f"{count_text(len(names), 'case')} passed and now {verb} ({_named(names)})"


def _named(names: Sequence[str]) -> str:
    short_names = [clean(name)[:_LONGEST_NAME] for name in names[:_MOST_NAMED]]
    return ", ".join(short_names) + (", …" if len(names) > _MOST_NAMED else "")


# --- the basis ---------------------------------------------------------------------------------------------------------


def _basis(comparison: Comparison) -> str:
    if not comparison.pairs:
        return ""
    # no figure contains the cases that only the baseline has
    total = max(comparison.pairs, comparison.base.cases)
    cases = f"{comparison.pairs:,} of " * (comparison.pairs < total) + count_text(total, "case")
    if comparison.look is not None:
        return f"; by {cases}, {_look_text(comparison, comparison.look)}"
    base, candidate = _trials(comparison.base), _trials(comparison.candidate)
    if base != candidate:
        return f"; by {cases} x {base} and {candidate} trials"
    return f"; by {cases}" + (f" x {base} trials" if base != "1" else "")


def _trials(run: ComparedRun) -> str:
    """Return the number of trials of a case, or the maximum of a sequential run."""
    return f"up to {run.num_runs:,}" if run.most else f"{run.num_runs:,}"


def _look_text(comparison: Comparison, look: Look) -> str:
    """Return after how many trials the look was, and its significance level."""
    run = comparison.candidate
    trials, most = run.num_runs * run.cases, run.most * run.cases
    saved = f" ({percent(1 - trials / most)} % fewer)" if trials < most else ""
    undecided = comparison.outcome in (Change.ERROR, Change.INCONCLUSIVE, Change.NO_DIFFERENCE)
    head = "after" if undecided else "decided after"
    end = f"{head} {trials:,} of {most:,} trials{saved}, look {look.number} of {look.of} at p < {look.one_sided:.2g}"
    if not comparison.futile:
        return end
    return f"{end}; the others would hardly decide it (a chance below {100 * FUTILE:.0f} %)"


def _margin(comparison: Comparison) -> str:
    return f"{100 * comparison.margin:g} points"


# --- The words and numbers that the reports share: changes of cases, measures, runs, missing verdicts -----------------

OUTCOMES = {
    Change.REGRESSION: Outcome.FAILED, Change.ERROR: Outcome.ERROR, Change.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Change.IMPROVEMENT: Outcome.PASSED, Change.NO_REGRESSION: Outcome.PASSED, Change.NO_DIFFERENCE: Outcome.PASSED,
}  # fmt: skip
"""The sign of each outcome."""


def trials_text(trials: Trials) -> str:
    """Return how many trials passed: `3/5`; `0/5 (2 in error)` where not all could be judged."""
    if not trials.total:
        return "not run"
    other = f" ({trials.other} in error)" if trials.other else ""
    return f"{trials.passed}/{trials.total}{other}"


def run_text(run: ComparedRun, marks: Marks) -> str:
    """Return how large a run is: `40 cases x 5`."""
    cases = count_text(run.cases, "case")
    return f"{cases} {marks.times} {run.num_runs}" if run.num_runs > 1 else cases


def answers(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the answer to each of the two questions, with its label."""
    both = ("On these cases", comparison.on_these_cases), ("In general", comparison.in_general)
    return [(label, text) for label, text in both if text]


def missing_texts(comparison: Comparison) -> list[str]:
    """Return which verdicts are missing, in short sentences."""
    counted, unknown = _counted_text(comparison), _unknown_text(comparison)
    rates = [_rates_text(one) for one in comparison.measures if one.name == PASSED]
    parts = [": ".join([counted, *rates]), *_unlisted_text(comparison)]
    return [
        *(["; ".join(parts)] if counted else []),
        *([f"{unknown}: they are in no figure"] if unknown else []),
    ]


def count_unlisted(comparison: Comparison) -> int:
    """Return how many cases of both runs lack a verdict and are not in the list of cases: for example in error in both runs."""
    known = sum(one.known for one in comparison.measures if one.name == PASSED)
    in_list = sum(None in (one.base.rate, one.candidate.rate) for one in comparison.cases)
    return max(0, comparison.pairs - known - in_list)


def _unlisted_text(comparison: Comparison) -> list[str]:
    if not (count := count_unlisted(comparison)):
        return []
    verb, owner, subject = ("is", "its", "it") if count == 1 else ("are", "their", "they")
    cases = count_text(count, "case")
    return [f"{cases} {verb} not listed: without {owner} verdicts it is unknown whether {subject} changed"]


def _rates_text(passed: Measured) -> str:
    cases = f"of the {count_text(passed.known, 'case')} with all verdicts"
    return f"the rates are {cases if passed.known else 'midway between bounds'}, and the intervals hold for every value of the missing ones"
