"""What an audit found about the criteria, as text blocks: metrics and thresholds that decide nothing, and verified changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from proctor.common.safe_text import count_text
from proctor.reports.content.text_blocks import (
    Block,
    Code,
    Column,
    Gap,
    Line,
    Row,
    Table,
    TextSpan,
    TextStyle,
    text_line,
)
from proctor.schema.analysis.audit_result import AuditResult, Fate, Proposal
from proctor.schema.results.score import score_text

_WIDE = 0.3
"""The range of thresholds from which it is named: the threshold hardly matters."""
ANSWERS, JUDGE = "answers", "final_response_match_v2"
_FEW = 3
"""Places of changes that are named unless everything is asked for."""
_COLUMNS = (Column("change"), Column("catches"), Column(wraps=True))


def criteria_lines(audit: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield which metrics decide nothing, and which thresholds decide the same."""
    for metric in audit.idle_metrics:
        limit = "" if metric.threshold is None else f" (threshold {metric.threshold:g})"
        text = f"`{metric.name}`{limit} failed none of the mutants that it scored ({metric.scored:,})"
        yield Line([TextSpan(text, "warning")], record=(text,))
    for metric in audit.metrics:
        if metric.varied:
            count = count_text(metric.varied, "recorded conversation")
            text = f"`{metric.name}` gave {count} another score or none the second time: what it catches may be chance"
            yield Line([TextSpan(text, "bad")], record=(text,))
    yield from _threshold_lines(audit, everything=everything)
    yield from _left_out_metrics(audit)


def _left_out_metrics(audit: AuditResult) -> Iterator[Block]:
    unused = {metric.name for metric in audit.metrics if not metric.scored} if audit.score.made else set()
    yield from _names("scored no mutant, because they apply to none of these cases", unused)
    metrics = chain.from_iterable(one.metrics for one in audit.sets)
    yield from _names("reported only, `gate` is false", {each.name for each in metrics if not each.gate})
    left_out = set(chain.from_iterable(one.left_out for one in audit.sets))
    yield from _names("not measured, these metrics ask a judge", left_out)


def _threshold_lines(audit: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield the thresholds between which no verdict changes, if the range is wide."""
    for metric in audit.metrics:
        if metric.threshold is None or metric.up_to is None:
            continue
        is_wide = metric.up_to - (metric.above or 0.0) >= _WIDE
        if everything or (is_wide and metric.threshold < metric.up_to):
            low = (
                f"above {score_text(metric.above, metric.threshold)} and " if metric.above is not None else ""
            )
            high = score_text(metric.up_to, metric.threshold)
            same = f"any threshold {low}up to {high} decides the same (it is {metric.threshold:g})"
            yield text_line(f"`{metric.name}`: {same}")


def _names(what: str, names: Iterable[str]) -> Iterator[Block]:
    if names:
        yield text_line(f"{what}: {', '.join(sorted(names))}")


# --- Verified changes ------------------------------------------------------------------------------------------------


def proposal_blocks(proposals: Sequence[Proposal], style: TextStyle) -> Iterator[Block]:
    """Yield the changes by the file or case that they belong to; with -v also the lines to paste."""
    if not proposals:
        return
    heading = "changes that catch survivors (tried: every recorded conversation still passes)"
    yield Line([TextSpan(heading, "strong")], record=(heading,))
    places = proposals_by_place(proposals)
    first_places = places if style.verbose else places[:_FEW]
    for place, changes in first_places:
        yield text_line(f"  {place}:")
        yield Table(_COLUMNS, [_row(each) for each in changes], indent=4)
        if style.verbose:
            yield from (Code(each, "json" if each.startswith("{") else "yaml") for each in snippets(changes))
    if len(first_places) < len(places):
        yield text_line(f"  … and {len(places) - len(first_places):,} more files or cases (-v)")
    yield Gap(is_everywhere=True)


def proposals_by_place(proposals: Sequence[Proposal]) -> list[tuple[str, list[Proposal]]]:
    """Return the changes of each config and case; those that catch most come first."""
    places: dict[str, list[Proposal]] = {}
    for each in proposals:
        name = f"{each.eval_id} ({each.where})" if each.eval_id and each.where else each.eval_id or each.where
        places.setdefault(name, []).append(each)
    return sorted(places.items(), key=lambda place: -sum(each.catches for each in place[1]))


def _row(proposal: Proposal) -> Row:
    catches = f"{proposal.catches:,} of {proposal.of:,}"
    return Row(
        [
            [TextSpan(proposal.change, is_data=True)],
            [TextSpan(catches, "good")],
            [TextSpan(proposal.note, "dim")],
        ]
    )


def snippets(changes: Sequence[Proposal]) -> Iterator[str]:
    """Yield what to paste: the criteria after the last change that was tried, and the keys of each case."""
    of_config = [each for each in changes if not each.eval_id]
    yield from (each.snippet for each in [*of_config[-1:], *(each for each in changes if each.eval_id)])


def advice_lines(audit: AuditResult) -> Iterator[Block]:
    """Yield what may catch the rest, which no audit can try: a judge that was not asked, and a statement that a case lacks."""
    survived = [each for case in audit.audited for each in case.mutants if each.fate is Fate.SURVIVED]
    left = len(survived) - sum(each.catches for each in audit.proposals)
    has_judge = audit.judged is not None or any(one.left_out for one in audit.sets)
    if left > 0 and not has_judge and any(audit.operators[each.operator][1] == ANSWERS for each in survived):
        yield text_line(
            f"next: {count_text(left, 'mutant')} {'is' if left == 1 else 'are'} left; an LLM judge can compare the meaning: "
            f"`{JUDGE}` in the criteria, and --judge to audit it"
        )
    caught = set(chain.from_iterable(each.faults for each in audit.proposals))
    if any({*audit.agents_that_pass(case)} - caught for case in audit.passed_by_any):
        yield text_line(
            "next: a case that an agent passes that does nothing needs an answer, a call or a final state; `proctor bless` "
            "takes them from a run"
        )
