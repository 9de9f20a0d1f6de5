"""A comparison of two runs as text blocks and as JSON: the runs, what differs, the cases that changed, the figures, the outcome."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from html import escape
from math import floor, log10
from typing import TextIO

from proctor.common.json_values import JsonObject
from proctor.common.safe_text import clean
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.cost_text import dollars
from proctor.reports.content.summary import short_names
from proctor.reports.content.symbols import Marks
from proctor.reports.content.text_blocks import (
    OUTCOME_ROLES,
    Block,
    Column,
    Fact,
    Gap,
    Group,
    Item,
    Line,
    Look,
    Note,
    Reason,
    Record,
    Role,
    Row,
    Span,
    Spans,
    Table,
    Verdict,
)
from proctor.reports.formats.json_data import write_json
from proctor.reports.terminal.choose import write_blocks
from proctor.schema.analysis.comparison import (
    TRIAL_COST,
    TRIAL_SECONDS,
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    Trials,
)
from proctor.schema.results.score import Outcome

HEADINGS = {
    CaseChange.REGRESSION: "passed before, fail now",
    CaseChange.IN_ERROR: "passed before, could not be judged now",
    CaseChange.FIX: "failed before, pass now",
    CaseChange.FLAKY: "another share of the trials passes",
}
FIGURES = {
    "token_usage_v1": ("tokens a turn", "{:,.0f}"),
    TRIAL_COST: ("agent's cost a trial, $", "{:.4f}"),
    TRIAL_SECONDS: ("seconds a trial", "{:.3f}"),
    "invocation_duration_v1": ("seconds a turn", "{:.3f}"),
    "tool_call_count_v1": ("tool calls a turn", "{:.2f}"),
    "inference_call_count_v1": ("model calls a turn", "{:.2f}"),
}
MOST = 50
"""Cases of a kind that are named, unless every one is asked for."""


def numbers(one: Measured) -> tuple[str, str, str, str, str]:
    """Return base, candidate, difference and the ends of its interval, all of one form; differences have a sign."""
    if one.name == "passed":
        form, signed, scale = "{:.1f} %", "{:+.1f}", 100
    else:
        form, scale = "{:.3f}", 1
        if one.name in FIGURES:
            form = _fine_enough(FIGURES[one.name][1], max(abs(one.difference), abs(one.low), abs(one.high)))
        signed = form.replace("{:", "{:+")
    before, now = (form.format(scale * value) for value in (one.base, one.candidate))
    difference, low, high = (
        _without_sign_of_zero(signed.format(scale * value)) for value in (one.difference, one.low, one.high)
    )
    return before, now, difference, low, high


_FINEST = 6


def _fine_enough(form: str, largest: float) -> str:
    """Return `form`, with more digits where the largest of what it is for would be written as 0 and is not."""
    digits = int(form[-3])
    if not 0 < largest < 0.5 * 10**-digits:
        return form
    return f"{form[:-3]}{min(_FINEST, 1 - floor(log10(largest)))}f}}"


def _without_sign_of_zero(text: str) -> str:
    """Remove the sign of a value that is rounded to 0: `0.000`, not `-0.000`."""
    return text[1:] if text[:1] in "+-" and not any(digit in text for digit in "123456789") else text


def score_pair(case: ChangedCase) -> tuple[str, str] | None:
    """Return the scores of the metric that moved, before and now."""
    return None if case.scores is None else (f"{case.scores[0]:.2f}", f"{case.scores[1]:.2f}")


def trials_text(trials: Trials) -> str:
    """Return how many trials passed: `3/5`; `0/5 (2 in error)` where not all could be judged."""
    if not trials.total:
        return "not run"
    other = f" ({trials.other} in error)" if trials.other else ""
    return f"{trials.passed}/{trials.total}{other}"


def _strip(trials: Trials, marks: Marks) -> str:
    """Return the trials as signs: those that passed first."""
    outcomes = (
        [Outcome.PASSED] * trials.passed + [Outcome.FAILED] * trials.failed + [Outcome.ERROR] * trials.other
    )
    return marks.strip(outcomes) or "not run"


def _run_text(run: ComparedRun, marks: Marks) -> str:
    """Return how large a run is: `40 cases x 5`."""
    cases = f"{run.cases:,} {'case' if run.cases == 1 else 'cases'}"
    return f"{cases} {marks.times} {run.num_runs}" if run.num_runs > 1 else cases


def cost_texts(comparison: Comparison) -> tuple[str, str] | None:
    """Return the cost of both runs, if that of at least one is known."""
    costs = comparison.base.cost, comparison.candidate.cost
    if not any(costs):
        return None
    before, now = ("unknown" if cost is None else dollars(cost) for cost in costs)
    return before, now


def left_out_texts(comparison: Comparison) -> list[str]:
    """Return what was not compared, in short sentences."""
    if not comparison.undecided:
        return []
    cases = "1 case is" if comparison.undecided == 1 else f"{comparison.undecided:,} cases are"
    return [f"{cases} left out of pass and fail: not every trial could be judged in both runs"]


# --- blocks ----------------------------------------------------------------------------------------------------------

_OUTCOMES = {
    Change.REGRESSION: Outcome.FAILED, Change.ERROR: Outcome.ERROR, Change.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Change.IMPROVEMENT: Outcome.PASSED, Change.NO_REGRESSION: Outcome.PASSED,
}  # fmt: skip
_CASE_ROLES: dict[CaseChange, Role] = {
    CaseChange.REGRESSION: "bad",
    CaseChange.IN_ERROR: "error",
    CaseChange.FIX: "good",
    CaseChange.FLAKY: "warning",
}
_VERDICTS = {"worse": Outcome.FAILED, "better": Outcome.PASSED}


def comparison_blocks(comparison: Comparison, look: Look) -> Iterator[Block]:
    """Return a comparison as blocks; the outcome is the last one."""
    yield Gap()
    yield _run_fact("base", comparison.base, look)
    yield _run_fact("candidate", comparison.candidate, look)
    for difference in comparison.unlike:
        is_warning = not difference.expected
        yield Note(
            "warning" if is_warning else "differs",
            difference.text,
            "warning" if is_warning else "dim",
            is_data=True,
        )
    for text in left_out_texts(comparison):
        yield Note("left out", text, "dim")
    names = _drawn_names(comparison)
    for change in CaseChange:
        if cases := comparison.changed(change):
            yield Gap()
            yield _case_group(cases, change, names, look)
    yield Gap()
    yield _measures(comparison, names, look)
    if costs := cost_texts(comparison):
        yield Record(("COST", f"{costs[0]} -> {costs[1]}"))
    yield Gap()
    outcome = _OUTCOMES[comparison.outcome]
    sentence = comparison.sentence
    yield Verdict(look.marks.outcome(outcome), sentence, OUTCOME_ROLES[outcome], ("OUTCOME", sentence))
    yield from _next_command(comparison)
    yield Gap()


def _drawn_names(comparison: Comparison) -> dict[str, str]:
    """Return the short name of each metric and the label of each figure."""
    metrics = {one.name for one in comparison.measures} | {
        case.metric for case in comparison.cases if case.metric
    }
    return {
        **short_names(sorted(metrics - FIGURES.keys())),
        **{name: label for name, (label, _) in FIGURES.items()},
    }


def _run_fact(word: str, run: ComparedRun, look: Look) -> Fact:
    parts: list[Spans] = [[Span(run.agent, "strong", is_data=True)], [Span(_run_text(run, look.marks))]]
    if run.run_id:
        parts.append([Span("run ", "dim"), Span(run.run_id, "dim", is_data=True)])
    run_id = f"run={run.run_id}" if run.run_id else ""
    return Fact(word, parts, (word.upper(), run.agent, f"cases={run.cases}", f"runs={run.num_runs}", run_id))


def _case_group(
    cases: Sequence[ChangedCase], change: CaseChange, names: Mapping[str, str], look: Look
) -> Group:
    several = len({case.eval_set_id for case in cases}) > 1
    return Group(
        HEADINGS[change],
        _CASE_ROLES[change],
        [_case_item(case, names, look, short=not several) for case in cases],
        MOST,
        is_open=change in {CaseChange.REGRESSION, CaseChange.IN_ERROR},
    )


def _case_item(case: ChangedCase, names: Mapping[str, str], look: Look, *, short: bool) -> Item:
    before, now = trials_text(case.base), trials_text(case.candidate)
    arrow = Span(f" {look.marks.arrow} ", "dim")
    trials = [
        Span(before, "dim", drawn=_strip(case.base, look.marks)),
        arrow,
        Span(now, _CASE_ROLES[case.change], drawn=_strip(case.candidate, look.marks)),
    ]
    parts: list[Spans] = [trials]
    moved = ""
    if (scores := score_pair(case)) and case.metric:
        metric = Span(case.metric, drawn=names.get(case.metric), is_data=True)
        parts.append([metric, Span(f" {scores[0]} {look.marks.arrow} {scores[1]}")])
        moved = f"{case.metric}={scores[0]} -> {scores[1]}"
    label, prefix = ("before", "before: ") if case.change is CaseChange.FIX else ("reason", "")
    return Item(
        case.name,
        parts,
        [Reason(label, case.reason, prefix)] if case.reason else [],
        drawn_name=case.eval_id if short else None,
        record=(case.change.value.upper(), case.name, f"{before} -> {now}", moved),
    )


def _measures(comparison: Comparison, names: Mapping[str, str], look: Look) -> Table:
    right = (Column(name, right=True) for name in ("base", "candidate", "difference"))
    interval = Column(f"{100 * comparison.confidence:g} % CI")
    columns = [Column(wraps=True), *right, interval, Column("p", is_drawn=False), Column()]
    rows = [_measure(one, comparison.confidence, names, look) for one in comparison.measures]
    if costs := cost_texts(comparison):
        texts = ["cost of the run", *costs, "", "", "", ""]
        rows.append(Row([[Span(text, "dim")] for text in texts]))
    return Table(columns, rows)


def _measure(one: Measured, confidence: float, names: Mapping[str, str], look: Look) -> Row:
    before, now, difference, low, high = numbers(one)
    role: Role = "" if one.decides else "dim"
    texts = (
        before,
        now,
        difference,
        f"{low} to {high}",
        _p_text(one.p_value if one.adjusted is None else one.adjusted),
    )
    name = Span(one.name, role, drawn=names.get(one.name), is_data=True)
    record = (
        "MEASURE", one.name, f"{before} -> {now}", f"{difference} ({100 * confidence:g} %: {low} to {high})",
        f"p={_p_text(one.p_value)}", "" if one.adjusted is None else f"adjusted={_p_text(one.adjusted)}",
        f"pairs={one.pairs}", one.verdict, "not judged alike" if one.apart else "",
    )  # fmt: skip
    return Row([[name], *([Span(text, role)] for text in texts), _measure_verdict(one, look)], record)


def _measure_verdict(one: Measured, look: Look) -> Spans:
    if one.apart:
        return [Span("not judged alike", "warning")]
    if not one.verdict:
        return []
    outcome = _VERDICTS[one.verdict]
    if not one.decides:
        return [Span(one.verdict, "dim")]
    return [Span(f"{look.marks.outcome(outcome)} {one.verdict}", OUTCOME_ROLES[outcome])]


def _p_text(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.2g}"


def _next_command(comparison: Comparison) -> Iterator[Line]:
    runs = comparison.base.run_id, comparison.candidate.run_id
    if comparison.cases and all(runs):
        command = shlex.join(["proctor", "compare", *runs, comparison.cases[0].name])
        yield Line([Span(command, "dim", is_data=True)], indent=2)


# --- JSON; docs/schemas/comparison.schema.json has its form --------------------------------------------------------

VERSION = 1


def comparison_data(found: Comparison) -> JsonObject:
    """Return a comparison as plain data."""
    return {
        "version": VERSION,
        "outcome": found.outcome.value,
        "exit_code": found.exit_code,
        "sentence": found.sentence,
        "base": _run_data(found.base),
        "candidate": _run_data(found.candidate),
        "margin": found.margin,
        "confidence": found.confidence,
        "pairs": found.pairs,
        "undecided": found.undecided,
        "more_cases": found.more_cases,
        "more_trials": found.more_trials,
        "look": None if found.look is None else asdict(found.look),
        "measures": [asdict(one) | {"verdict": one.verdict or None} for one in found.measures],
        "cases": [asdict(case) | {"metric": case.metric or None} for case in found.cases],
        "only_base": list(found.only_base),
        "only_candidate": list(found.only_candidate),
        "changed_cases": list(found.changed_cases),
        "unlike": [asdict(one) for one in found.unlike],
    }


def _run_data(run: ComparedRun) -> JsonObject:
    unset = {"run_id": run.run_id or None, "against": run.against or None, "most": run.most or None}
    return asdict(run) | unset


# --- forms -----------------------------------------------------------------------------------------------------------

Writer = Callable[[Comparison, TextIO], None]


def write_comparison(comparison: Comparison, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write a comparison to `out`: drawn on a terminal, plain lines elsewhere."""
    write_blocks(partial(comparison_blocks, comparison), out, options)


def write_markdown(comparison: Comparison, out: TextIO) -> None:
    """Write a comparison for a pull request."""
    from proctor.reports.formats import markdown_blocks

    markdown_blocks.write_markdown(partial(comparison_blocks, comparison), out)


def _write_plain(comparison: Comparison, out: TextIO) -> None:
    from proctor.reports.plain.block_lines import write_plain

    write_plain(partial(comparison_blocks, comparison), out)


def _write_json(comparison: Comparison, out: TextIO) -> None:
    write_json(comparison_data(comparison), out)


WRITERS: dict[str, Writer] = {
    "json": _write_json,
    "markdown": write_markdown,
    "md": write_markdown,
    "text": _write_plain,
}
"""What writes a comparison as a report, by the name of the report."""


def write_comparison_error(name: str, message: str, out: TextIO) -> None:
    """Write why there is no comparison, as the report `name` (`json`, `markdown`, `md`, `text` or `html`)."""
    from proctor.reports.content.public_text import hidden, write_note_page

    text = hidden(clean(message, lines=True))
    sentence = f"configuration error: {text}"
    if name == "json":
        write_json({"version": VERSION, "outcome": "error", "exit_code": 2, "sentence": sentence}, out)
    elif name == "html":
        write_note_page(out, sentence)
    elif name == "text":
        out.write(f"ERROR  configuration error: {clean(text)}\n")
    else:
        out.write(f"<h3>! configuration error: not compared</h3>\n\n<pre>\n{escape(text)}\n</pre>\n\n")
