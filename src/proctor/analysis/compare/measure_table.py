"""The measures of a comparison: their numbers as text, and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10

from proctor.reports.content.summary import partial_cost_text, percent, points
from proctor.reports.content.symbols import short_names
from proctor.reports.content.text_blocks import (
    OUTCOME_ROLES,
    Column,
    Role,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
)
from proctor.schema.analysis.comparison import PASSED, TRIAL_COST, TRIAL_SECONDS, Comparison, Measured
from proctor.schema.results.score import MODEL_CALLS, Outcome, decimals_of

FIGURES = {
    "token_usage_v1": ("tokens a turn", "{:,.0f}"),
    TRIAL_COST: ("agent's cost a trial, $", "{:.4f}"),
    TRIAL_SECONDS: ("duration of a trial, s", "{:.3f}"),
    "invocation_duration_v1": ("duration of a turn, s", "{:.3f}"),
    "tool_call_count_v1": ("tool calls a turn", "{:.2f}"),
    MODEL_CALLS: ("model calls a turn", "{:.2f}"),
}


def numbers(one: Measured) -> tuple[str, str, str, str, str]:
    """Return baseline, candidate, difference and the ends of its interval, all of one form; differences have a sign.

    Without a case that has all of its scores, the means of a metric and their difference are unknown.
    """
    if one.name == PASSED:
        difference, low, high = map(points, (one.difference, one.low, one.high))
        return f"{percent(one.base)} %", f"{percent(one.candidate)} %", difference, low, high
    form = f"{{:.{decimals_of((one.base, one.candidate), 3)}f}}"
    if one.name in FIGURES:
        changes = max(abs(one.difference), abs(one.low), abs(one.high))
        form = _fine_enough(
            FIGURES[one.name][1], min(filter(None, (one.base, one.candidate, changes)), default=0.0)
        )
    signed = form.replace("{:", "{:+")
    before, now = map(form.format, (one.base, one.candidate))
    difference, low, high = (
        _without_sign_of_zero(signed.format(value)) for value in (one.difference, one.low, one.high)
    )
    if not one.known:
        before = now = difference = "unknown"
    return before, now, difference, low, high


def values_text(one: Measured) -> tuple[str, str]:
    """Return baseline and candidate; a share of trials has its denominator: `70 % (21 of 30)`."""
    before, now, *_ = numbers(one)
    if one.trials is None:
        return before, now
    base, candidate = (f" ({trials.passed:,} of {trials.total:,})" for trials in one.trials)
    return before + base, now + candidate


_FINEST = 6


def _fine_enough(form: str, largest: float) -> str:
    """Return `form`, with more digits where the largest of what it is for would be written as 0, and can be written with them."""
    digits = int(form[-3])
    if not 0.5 * 10**-_FINEST <= largest < 0.5 * 10**-digits:
        return form
    return f"{form[:-3]}{min(_FINEST, 1 - floor(log10(largest)))}f}}"


def _without_sign_of_zero(text: str) -> str:
    """Remove the sign of a value that is rounded to 0: `0.000`, not `-0.000`."""
    return text[1:] if text[:1] in "+-" and not any(digit in text for digit in "123456789") else text


TOO_FEW = "too few cases to test"
FEWEST_PAIRS = 3


def is_too_few(comparison: Comparison, one: Measured) -> bool:
    """Return whether a measure has so few values that no difference of it could be significant.

    The tests by case compare the signs of differences: of two cases the smallest possible p-value is 0.5. The pass rate is
    tested by its trials, so that one case with several of them can be enough.
    """
    if one.pairs >= FEWEST_PAIRS or one.verdict:
        return False
    return one.name != PASSED or comparison.base.num_runs == comparison.candidate.num_runs == 1


def interval_texts(comparison: Comparison, one: Measured) -> tuple[str, str] | None:
    """Return the ends of the interval of a difference; `None` if there are too few cases, or if it is a single value."""
    *_, low, high = numbers(one)
    return None if low == high or is_too_few(comparison, one) else (low, high)


def has_general_interval(comparison: Comparison) -> bool:
    """Return whether there are enough cases for the interval of the difference in general."""
    general = comparison.general
    return general is not None and (comparison.pairs >= FEWEST_PAIRS or general.lowest >= -comparison.margin)


def cost_texts(comparison: Comparison) -> tuple[str, str] | None:
    """Return the cost of both runs, if that of at least one is known."""
    before, now = (
        partial_cost_text(one.cost, one.known_cost) for one in (comparison.base, comparison.candidate)
    )
    return None if before == now == "unknown" else (before, now)


# --- the table ---------------------------------------------------------------------------------------------------------

_WIDE = 92
"""Characters of a line from which on each row has its number of cases; the outcome has it, too."""
_VERDICTS = {"worse": Outcome.FAILED, "better": Outcome.PASSED}


def drawn_names(comparison: Comparison) -> dict[str, str]:
    """Return the short name of each metric and the label of each figure."""
    metrics = {one.name for one in comparison.measures} | {
        case.metric for case in comparison.cases if case.metric
    }
    return {
        **short_names(sorted(metrics - FIGURES.keys())),
        **{name: label for name, (label, _) in FIGURES.items()},
    }


def measures_table(comparison: Comparison, names: Mapping[str, str], style: TextStyle) -> Table:
    """Return a row for each measure: both means, their difference with its interval, and the number of cases."""
    has_missing = any(one.known != comparison.pairs for one in comparison.measures)
    right = (Column(name, right=True) for name in ("baseline", "candidate", "change"))
    columns = [
        Column(),
        Column("metric", wraps=True, is_name=True),
        *right,
        Column("cases", right=True, is_drawn=style.width >= _WIDE or has_missing),
        Column("confidence interval"),
        Column("p", is_drawn=style.verbose),
        Column(is_drawn=any(one.apart for one in comparison.measures)),
    ]
    rows = [_measure(comparison, one, names, style) for one in comparison.measures]
    if costs := cost_texts(comparison):
        texts = ["", "run cost", *costs, "", "", "", "", ""]
        rows.append(Row([[TextSpan(text, "dim")] for text in texts]))
    return Table(columns, rows)


def _measure(comparison: Comparison, one: Measured, names: Mapping[str, str], style: TextStyle) -> Row:
    before, now, difference, *_ = numbers(one)
    role: Role = "" if one.decides else "dim"
    interval, p_value, too_few = _test_texts(comparison, one)
    texts = (before, now, difference, _pairs_text(one, "/"), too_few or interval, p_value)
    label = FIGURES[one.name][0] if one.name in FIGURES else one.name
    name = TextSpan(label, role, drawn=names.get(one.name), is_data=True)
    apart = [TextSpan("not scored alike", "warning")] if one.apart else []
    return Row(
        [_verdict_mark(one, style), [name], *([TextSpan(text, role)] for text in texts), apart],
        _measure_record(comparison, one),
    )


def _measure_record(comparison: Comparison, one: Measured) -> tuple[str, ...]:
    change = numbers(one)[2]
    if ends := interval_texts(comparison, one):
        change += f" ({_level(one)}: {' to '.join(ends)})"
    _, p_value, too_few = _test_texts(comparison, one)
    return (
        "MEASURE", one.name, " -> ".join(values_text(one)), change, p_value and f"p={p_value}",
        f"pairs={_pairs_text(one)}", one.verdict, "not scored alike" if one.apart else "", too_few,
    )  # fmt: skip


def _test_texts(comparison: Comparison, one: Measured) -> tuple[str, str, str]:
    """Return the interval and the p-value, or that there are too few cases for them."""
    if is_too_few(comparison, one):
        return "", "", TOO_FEW
    ends = interval_texts(comparison, one)
    return f"{' to '.join(ends)} ({_level(one)})" if ends else "", _p_text(one.p_value), ""


def _level(one: Measured) -> str:
    return f"{100 * one.confidence:.3g} %"


def _verdict_mark(one: Measured, style: TextStyle) -> Spans:
    """Return the mark of a significant change; the sentences above the table state it in words."""
    if one.apart or not one.verdict:
        return []
    outcome = _VERDICTS[one.verdict]
    return [TextSpan(style.marks.outcome(outcome), OUTCOME_ROLES[outcome] if one.decides else "dim")]


def _pairs_text(one: Measured, of: str = " of ") -> str:
    """Return the number of cases that the means are of, and that of all pairs if values are missing."""
    return f"{one.known}{of}{one.pairs}" if one.missing else f"{one.pairs}"


def _p_text(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.2g}"
