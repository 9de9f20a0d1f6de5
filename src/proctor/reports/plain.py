"""Plain lines: stable, made for `grep`, logs and pipes. Their form is documented in docs/reference/results/plain-lines.md.

Every line of a run begins with a word in capitals; its fields are separated by two spaces. Lines that begin with four spaces are the
reason and the evidence of the case above. Nothing but line ends is a control character, and our own signs are ASCII.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import chain, islice
from typing import ClassVar, TextIO

from proctor.common.safe_text import cells, clean, encodable, shorten
from proctor.reports.base import DEFAULTS, ReportOptions, is_terminal
from proctor.reports.content import summary
from proctor.reports.content.case_digest import (
    Digest,
    Row,
    added_text,
    is_repeated,
    line_up,
    mean_text,
    means_of,
    rate_field,
    reason_of,
    repeat_figures,
    repeated_sets,
    runs_text,
    score_field,
    warnings_beside,
)
from proctor.reports.content.case_words import FLAKY
from proctor.reports.content.summary import fault_fields, money_of
from proctor.reports.content.symbols import ASCII, Kind
from proctor.reports.content.text_blocks import (
    NOT_SET,
    Block,
    BuildBlocks,
    Cause,
    Code,
    Detail,
    Evidence,
    EvidenceBlock,
    Fact,
    Findings,
    Gap,
    Group,
    LeftOut,
    Line,
    Look,
    Note,
    Pieces,
    Reason,
    Record,
    Remark,
    StateDifference,
    StepLine,
    Steps,
    Table,
    TextDifference,
    Verdict,
)
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.results.case_result import Repeats
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import TrialRule, score_text
from proctor.stats.intervals import Mean

_INDENT = "    "
TRIAL_LETTERS = {Outcome.PASSED: "P", Outcome.FAILED: "F", Outcome.ERROR: "E", Outcome.INCONCLUSIVE: "I"}


class PlainReport:
    """One line a case, in the order of the sets, each failure with its evidence; the verdict is the last line."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out` line by line; of several the comparison first, then what each did not pass."""
        lines = _comparison(runs, options) if len(runs) > 1 else _runs(runs, options)
        write_lines(chain([fields("EMPTY", options.note)] if options.note else [], lines), out)


def _runs(runs: Sequence[RunResult], options: ReportOptions) -> Iterator[str]:
    for run in runs:
        yield _run(run)
        yield from _sets(run)
        digest = Digest()
        for case in run.cases:
            digest.add(case)
            yield from _case(case, options)
        yield from _ending(run, digest)


# --- several agents ------------------------------------------------------------------------------------------------------


def _comparison(runs: Sequence[RunResult], options: ReportOptions) -> Iterator[str]:
    rows = sorted(line_up(runs), key=lambda row: not row.differs)
    different = [row for row in rows if row.differs]
    yield fields("AGENTS", *(run.agent for run in runs), f"cases={len(rows)}", f"different={len(different)}")
    yield from dict.fromkeys(line for run in runs for line in _sets(run))
    for row in different if options.only_different else rows:
        yield _row(row, runs)
    names = {(row.eval_set_id, row.eval_id) for row in different}
    for run in runs:
        yield from _compared_run(run, names, options)


def _compared_run(
    run: RunResult, different: Container[tuple[str, str]], options: ReportOptions
) -> Iterator[str]:
    yield _run(run)
    digest = Digest()
    for case in run.cases:
        digest.add(case)
        if options.only_different and (case.eval_set_id, case.eval_id) not in different:
            continue
        if options.verbose or not case.passed:
            yield from _case(case, options)
    yield from _ending(run, digest)


def _row(row: Row, runs: Sequence[RunResult]) -> str:
    cells = [f"{run.agent}={_cell(case, row.metric)}" for run, case in zip(runs, row.cases, strict=True)]
    scored = any(case is not None and _score_text(case, row.metric) for case in row.cases)
    score = [f"score={row.metric}"] if scored else []
    return fields("DIFFERS" if row.differs else "SAME", row.name, *cells, *score)


def _cell(case: CaseResult | None, metric: str) -> str:
    if case is None:
        return Outcome.NOT_RUN.value
    passed = f"{case.trials_passed}/{len(case.trials)}" if is_repeated(case) else ""
    return " ".join(part for part in (case.outcome.value, _score_text(case, metric), passed) if part)


def _score_text(case: CaseResult, metric: str) -> str:
    verdict = case.metrics.get(metric)
    if verdict is None or case.outcome is Outcome.ERROR:
        return ""
    return score_text(verdict.score, verdict.threshold)


# --- one agent -----------------------------------------------------------------------------------------------------------


def _run(run: RunResult) -> str:
    runs = runs_text(run.sets, run.num_runs, ASCII) or "1"
    return fields("RUN", run.agent, f"cases={len(run.cases)}", f"runs={runs}")


def _sets(run: RunResult) -> Iterator[str]:
    for name, one in zip(summary.set_names(run.sets), run.sets, strict=True):
        source = summary.config_source(one)
        criteria = f"criteria={source}" if source else ""
        runs = f"runs={one.num_runs}" if one.num_runs != run.num_runs else ""
        yield fields("SET", name, f"cases={one.cases}", runs, criteria, *_rule(one.rule))
    for metric, why in summary.left_out(run).items():
        yield fields("LEFT-OUT", metric, why)


def _rule(rule: TrialRule | None) -> Iterator[str]:
    if rule is not None:
        yield f"min_pass_rate={rule.min_pass_rate:g}"
        yield f"pass_k={rule.pass_k}" if rule.pass_k > 1 else ""
        yield f"confidence={rule.confidence:g}" if rule.confidence is not None else ""
        yield "until_decided" if rule.at_most is not None else ""


def _repeats(run: RunResult, digest: Digest) -> Iterator[str]:
    if added := added_text(run, digest.repeats.trials):
        yield fields("ADDED", f"until decided: {added}")
    if not digest.is_repeated:
        return
    rules = summary.rules(run.sets)
    for eval_set_id, repeats in repeated_sets(digest.repeats).items():
        yield fields("REPEATS", f"set={eval_set_id}", *_figures(repeats, rules))
    yield fields("REPEATS", *_figures(digest.repeats, rules))
    if means := means_of(digest.repeats, digest.gating):
        yield fields("MEANS", *(f"{name}={_mean(means[name], digest.repeats)}" for name in means))


def _figures(repeats: Repeats, rules: Sequence[TrialRule | None]) -> Iterator[str]:
    yield f"flaky={repeats.flaky}/{repeats.cases}"
    for name, mean in repeat_figures(repeats, rules):
        yield f"{name}={_mean(mean, repeats)}"


def _mean(mean: Mean, of: Repeats) -> str:
    return f"{mean_text(mean, ASCII).replace(' ', '')}({mean.cases}/{of.cases})"


def _errors(run: RunResult) -> Iterator[str]:
    for name, one in zip(summary.set_names(run.sets), run.sets, strict=True):
        if one.failure is not None:
            yield fields("ERROR", name, f"could not be run: {one.failure.cause}")
    if run.failure is not None and run.failure.where == CONFIGURATION:
        yield fields("ERROR", run.failure.cause)


def _ending(run: RunResult, digest: Digest) -> Iterator[str]:
    yield from _errors(run)
    for warning in digest.warnings(run):
        yield fields("WARNING", warning)
    yield from _repeats(run, digest)
    if at_fault := fault_fields(digest.whose_fault):
        yield fields("AT-FAULT", *at_fault)
    if figures := digest.figures():
        yield fields("FIGURES", ", ".join(figures))
    if spent := money_of(run):
        yield fields("COST", *spent)
    for name, badge in run.badges.items():
        yield fields("JUDGE", name, badge)
    yield _verdict(run, digest)


def _verdict(run: RunResult, digest: Digest) -> str:
    took = f"duration={summary.duration(run.duration)}" if run.duration else ""
    if run.judging_duration is not None:
        took += f"  judged_in={summary.duration(run.judging_duration)}"
    sentence = summary.sentence(run, flaky=digest.repeats.flaky)
    return fields("VERDICT", sentence, summary.rate(run, ASCII), took, run.run_id and f"run={run.run_id}")


def _outcome(case: CaseResult) -> str:
    trials = "".join(TRIAL_LETTERS.get(trial.outcome, "-") for trial in case.trials)
    return fields(
        case.outcome.value.upper(),
        f"{case.eval_set_id}/{case.eval_id}",
        f"trials={trials}" if trials else "",
        rate_field(case),
        FLAKY if case.flaky else "",
        *(score_field(case, metric) for metric in case.metrics.values() if _is_shown(metric)),
    )


def _case(case: CaseResult, options: ReportOptions) -> Iterator[str]:
    yield _outcome(case)
    if reason := reason_of(case):
        yield f"{_INDENT}reason: {reason}"
    elif case.passed and case.missed:
        yield f"{_INDENT}missed: {case.missed}"
    for warning in warnings_beside(case):
        yield f"{_INDENT}warning: {warning}"
    if options.verbose or case.outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}:
        from proctor.reports.evidence.case_evidence import evidence_block

        yield from (_INDENT + line for line in evidence_lines(evidence_block(case, full=options.verbose)))


def _is_shown(metric: MetricVerdict) -> bool:
    """Return whether a metric decides and was computed; if there was no trial, the reason states that once."""
    if not metric.gate or metric.outcome is Outcome.INFORMATIONAL:
        return False
    return metric.outcome is not Outcome.ERROR or any(
        score is not None and score.failure is not None for score in metric.per_trial
    )


# --- Text blocks; on a terminal they are drawn instead -----------------------------------------------------------------

_AT_ONCE = 100


def write_lines(lines: Iterable[str], out: TextIO) -> None:
    """Write lines to `out`, some at a time, each with everything unsafe as a visible escape."""
    encoding, rest = getattr(out, "encoding", None), iter(lines)
    while some := [*islice(rest, _AT_ONCE)]:
        out.write("".join([encodable(clean(line), encoding).rstrip() + "\n" for line in some]))


def fields(*texts: str) -> str:
    """Return the fields of a line, two spaces apart; empty ones are left out."""
    return "  ".join(text for text in texts if text)


def write_blocks(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write text blocks to `out` in the form that suits it; rich is loaded only for a terminal."""
    if not is_terminal(out):
        write_plain(build, out, options)
        return
    from proctor.reports.terminal.block_drawing import draw_blocks

    draw_blocks(build, out, options)


def write_plain(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write the blocks line by line."""
    look = Look(verbose=bool(options.verbose))
    write_lines((line for block in build(look) for line in _lines(block, verbose=look.verbose)), out)


def _lines(block: Block, *, verbose: bool) -> Iterator[str]:
    match block:
        case Record():
            yield fields(*block.fields)
        case Note():
            yield fields(block.label.upper().replace(" ", "_"), block.text)
        case Reason():
            yield f"    {block.label}: {block.text}"
        case Group():
            yield from _group_lines(block, verbose=verbose)
        case Gap() if block.is_everywhere:
            yield ""
        case Table():
            yield from _table_lines(block)
        case Code():
            yield from (f"    {line}" for line in block.text.splitlines())
        case Evidence():
            yield from (f"    {line}" for line in evidence_lines(block))
        case Line() | Fact() | Verdict() if block.record:
            yield fields(*block.record)


def _table_lines(table: Table) -> Iterator[str]:
    """Return the records of a table; the rows of a plain table without records in aligned columns."""
    records = [row.record for row in table.rows if row.record]
    if records:
        yield from (fields(*record) for record in records)
    elif table.is_plain:
        yield from _aligned_lines(table)


def _aligned_lines(table: Table) -> Iterator[str]:
    headings = [column.heading for column in table.columns]
    rows = [["".join(span.text for span in cell) for cell in row.cells] for row in table.rows]
    lines = [*([headings] if any(headings) else []), *rows]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        texts = (
            " " * (width - cells(text)) + text if column.right else text + " " * (width - cells(text))
            for text, width, column in zip(line, widths, table.columns, strict=True)
        )
        yield " " * table.indent + "  ".join(texts)


def _group_lines(group: Group, *, verbose: bool) -> Iterator[str]:
    visible_items = group.items if verbose else group.items[: group.most]
    for item in visible_items:
        yield fields(*item.record)
        for note in item.notes:
            yield from _lines(note, verbose=verbose)
    if len(visible_items) < len(group.items):
        yield f"    ... {len(group.items) - len(visible_items)} more (-v: all)"


# --- evidence: one line for each step, text or finding ----------------------------------------------------------------


_CODE = 100  # columns of a source line


def evidence_lines(evidence: Evidence) -> Iterator[str]:
    """Return evidence line by line, without what the reason already states."""
    for trial in evidence.trials:
        if evidence.of > 1:
            yield f"trial {trial.trial + 1} of {evidence.of}"
        for section in trial.sections:
            place = f"turn {section.turn + 1}: " if section.turn is not None else ""
            if section.user_text:
                yield f"{place}user: {section.user_text}"
            for block in section.blocks:
                yield from (place + line for line in block_lines(block, evidence.reason))


def block_lines(block: EvidenceBlock, reason: str) -> Iterator[str]:
    """Return a block of evidence line by line, without what `reason` already states."""
    return _block(_without_reason(block, reason))


def _without_reason(block: EvidenceBlock, reason: str) -> EvidenceBlock:
    """Return the block without what `reason` already states."""
    if isinstance(block, Cause) and block.error in reason:
        return replace(block, error="")
    return Remark(block.label, "") if isinstance(block, Remark) and block.text in reason else block


@singledispatch
def _block(block: EvidenceBlock) -> Iterator[str]:
    raise TypeError(f"no lines for {type(block).__name__}")


@_block.register
def _(block: Steps) -> Iterator[str]:
    for line in block.lines:
        yield from _step(line)


def _step(line: StepLine | LeftOut) -> Iterator[str]:
    if isinstance(line, LeftOut):
        yield f"= ({line.count} more that match)"
        return
    mark = ASCII.steps[line.kind]
    if line.kind is Kind.DIFFERS:
        yield f"{mark} expected {_mark_changes(line.expected, '[-', '-]')}"
        yield f"{mark} actual   {_mark_changes(line.actual, '{+', '+}')}"
    else:
        yield f"{mark} {_mark_changes(line.expected or line.actual, '', '')}"


@_block.register
def _(block: TextDifference) -> Iterator[str]:
    yield f"expected: {_mark_changes(block.expected, '[-', '-]')}"
    yield f"actual: {_mark_changes(block.actual, '{+', '+}')}"


@_block.register
def _(block: StateDifference) -> Iterator[str]:
    for line in block.lines:
        yield f"state: {line.key}: {line.expected or NOT_SET} -> {line.actual or NOT_SET}"


@_block.register
def _(block: Findings) -> Iterator[str]:
    for line in block.lines:
        if isinstance(line, LeftOut):
            yield f"= ({line.count} more that hold)"
            continue
        why = f" ({line.why})" if line.why else ""
        yield f"{_HELD[line.holds]} {block.label.removesuffix('s')} {line.name}: {line.text}{why}"


_HELD = {True: "=", False: "-", None: "?"}


@_block.register
def _(block: Cause) -> Iterator[str]:
    if block.error:
        yield f"cause: {block.what}: {block.error}"
    if block.place:
        code = shorten(block.code, _CODE, mark="...")
        yield f"at: {block.place}: {code}" if code else f"at: {block.place}"


@_block.register
def _(block: Remark) -> Iterator[str]:
    if block.text:
        yield f"{block.label}: {block.text}"


@_block.register
def _(block: Detail) -> Iterator[str]:
    yield f"{block.label}: {block.text}"


def _mark_changes(pieces: Pieces, before: str, after: str) -> str:
    return "".join(f"{before}{piece.text}{after}" if piece.changed else piece.text for piece in pieces)
