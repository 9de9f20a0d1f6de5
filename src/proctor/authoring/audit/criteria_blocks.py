"""What an audit found about the criteria, as text blocks: metrics and thresholds that decide nothing, and verified changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from proctor.reports.content.text_blocks import (
    Block,
    Code,
    Column,
    Gap,
    Line,
    Look,
    Role,
    Row,
    Span,
    Table,
    text_line,
)
from proctor.schema.analysis.audit_result import AuditResult, Proposal
from proctor.schema.results.score import score_text

_WIDE = 0.3
"""The range of thresholds from which it is named: the threshold hardly matters."""
_FEW = 3
"""Places of changes that are named unless everything is asked for."""
_COLUMNS = (Column("change"), Column("catches"), Column(wraps=True))


def criteria_lines(found: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield which metrics decide nothing, and which thresholds decide the same."""
    for metric in found.idle_metrics:
        limit = "" if metric.threshold is None else f" (threshold {metric.threshold:g})"
        text = f"`{metric.name}`{limit} failed none of the mutants that it scored ({metric.scored:,})"
        yield Line([Span(text, "warning")], record=(text,))
    yield from _threshold_lines(found, everything=everything)
    yield from _left_out_metrics(found)


def _left_out_metrics(found: AuditResult) -> Iterator[Block]:
    unused = {metric.name for metric in found.metrics if not metric.scored} if found.score.made else set()
    yield from _names("scored no mutant, because they apply to none of these cases", unused)
    metrics = chain.from_iterable(one.metrics for one in found.sets)
    yield from _names("reported only, `gate` is false", {each.name for each in metrics if not each.gate})
    left_out = set(chain.from_iterable(one.left_out for one in found.sets))
    yield from _names("not measured, these metrics ask a judge", left_out)


def _threshold_lines(found: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield the thresholds between which no verdict changes, if the range is wide."""
    for metric in found.metrics:
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


def proposal_blocks(proposals: Sequence[Proposal], look: Look) -> Iterator[Block]:
    """Yield the changes by the file or case that they belong to; with -v also the lines to paste."""
    if not proposals:
        return
    heading = "changes that catch survivors (tried: every recorded conversation still passes)"
    yield Line([Span(heading, "strong")], record=(heading,))
    places = proposals_by_place(proposals)
    shown = places if look.verbose else places[:_FEW]
    for place, changes in shown:
        yield text_line(f"  {place}:")
        yield Table(_COLUMNS, [_row(each) for each in changes], indent=4)
        if look.verbose:
            yield from (Code(each, "json" if each.startswith("{") else "yaml") for each in snippets(changes))
    if len(shown) < len(places):
        yield text_line(f"  … and {len(places) - len(shown):,} more files or cases (-v)")
    yield Gap(is_everywhere=True)


def proposals_by_place(proposals: Sequence[Proposal]) -> list[tuple[str, list[Proposal]]]:
    """Return the changes of each config and case; those that catch most come first."""
    places: dict[str, list[Proposal]] = {}
    for each in proposals:
        name = f"{each.eval_id} ({each.where})" if each.eval_id and each.where else each.eval_id or each.where
        places.setdefault(name, []).append(each)
    return sorted(places.items(), key=lambda place: -sum(each.catches for each in place[1]))


def _row(proposal: Proposal) -> Row:
    catches = f"{proposal.catches:,} of {proposal.of:,}" if proposal.verified else "not tried"
    left = f"{proposal.of:,} {'is' if proposal.of == 1 else 'are'} left: {proposal.note}"
    note = proposal.note if proposal.verified else left
    role: Role = "good" if proposal.verified else "dim"
    return Row([[Span(proposal.change, is_data=True)], [Span(catches, role)], [Span(note, "dim")]])


def snippets(changes: Sequence[Proposal]) -> Iterator[str]:
    """Yield what to paste: the criteria after the last change that was tried, and the keys of each case."""
    tried = [each for each in changes if each.verified]
    of_config = [each for each in tried if not each.eval_id]
    yield from (each.snippet for each in [*of_config[-1:], *(each for each in tried if each.eval_id)])
