"""The result of an audit as text blocks (terminal, plain text, Markdown) and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from io import StringIO
from itertools import chain
from typing import Any, TextIO

from proctor.authoring.audit.audit_baseline import (
    AuditChange,
    case_name,
    change_blocks,
    change_data,
    change_sentence,
)
from proctor.authoring.audit.audit_sentence import audit_sentence
from proctor.authoring.audit.criteria_blocks import advice_lines, criteria_lines, proposal_blocks
from proctor.authoring.audit.judged_mutants import judge_blocks, judged_data
from proctor.authoring.audit.leakage import leakage_blocks, leakage_data
from proctor.authoring.audit.mutant_evidence import evidence_data, survivor_blocks
from proctor.common.safe_text import count_text, encodable, one_line
from proctor.engine.planning.set_plan import ASSERTS_NOTHING
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.public_text import file_and_line, hidden
from proctor.reports.content.summary import bounds, percent
from proctor.reports.content.symbols import UNICODE
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Role,
    Row,
    Table,
    TextSpan,
    TextStyle,
    text_line,
)
from proctor.reports.formats.error_report import write_error_report
from proctor.reports.formats.github import MOST, annotation
from proctor.reports.formats.json_text import write_json
from proctor.reports.formats.markdown_blocks import write_markdown
from proctor.reports.plain import write_blocks, write_plain
from proctor.schema.analysis.audit_result import (
    AGENTS,
    AuditResult,
    CaseAudit,
    Fate,
    MutantFate,
    MutationScore,
    OperatorScore,
    SetAudit,
    fate_data,
)
from proctor.schema.results.exit_code import ExitCode

FAMILY_WORDS = {
    AGENTS: "agents that do nothing",
    "calls": "tool calls",
    "answers": "answers",
    "state": "final state",
    "conversation": "course of the conversation",
}
_FEW = 4
"""Cases that a line names."""
_LONGEST = 110


@dataclass(frozen=True, slots=True)
class AuditView:
    """An audit as a report shows it."""

    result: AuditResult
    options: ReportOptions = DEFAULTS
    change: AuditChange | None = None
    """The comparison with an earlier audit."""
    eval_id: str | None = None
    """The case of which only the mutants that survive are shown: what was recorded, what was planted, why the case passes."""

    def blocks(self, style: TextStyle) -> Iterator[Block]:
        """Return it as text blocks."""
        if self.eval_id is not None:
            return survivor_blocks(self.result, self.eval_id)
        return audit_blocks(self.result, style, self.change)


def write_for_people(view: AuditView, out: TextIO) -> None:
    """Write it in the form that suits the stream."""
    write_blocks(view.blocks, out, view.options)


def _write_markdown(view: AuditView, out: TextIO) -> None:
    write_markdown(view.blocks, out, view.options)


def _write_github(view: AuditView, out: TextIO) -> None:
    lines = github_lines(view.result, view.change)
    out.writelines(f"{encodable(line, getattr(out, 'encoding', None))}\n" for line in lines)


Writer = Callable[[AuditView, TextIO], None]

WRITERS: dict[str, Writer] = {
    "json": lambda shown, out: write_json(audit_data(shown.result, shown.change), out),
    "markdown": _write_markdown,
    "md": _write_markdown,
    "github": _write_github,
    "text": lambda shown, out: write_plain(shown.blocks, out, shown.options),
}
"""What writes an audit as a report, by the name of the report."""

write_audit_error = partial(
    write_error_report,
    what="not audited",
    data={"version": 1, "outcome": "error", "exit_code": ExitCode.CONFIGURATION_ERROR},
)
"""Writes why there is no audit, as the report of a name: one of `WRITERS` or `html`."""


def audit_text(audit: AuditResult) -> str:
    """Return it as plain text, with the mutants that survive."""
    out = StringIO()
    write_for_people(AuditView(audit, ReportOptions(verbose=True, color=False)), out)
    return out.getvalue()


def audit_data(audit: AuditResult, change: AuditChange | None = None) -> dict[str, Any]:
    """Return it as plain data; `baseline` is the comparison with an earlier audit."""
    compared = {} if change is None else {"baseline": change_data(change)}
    return {
        "version": 1,
        "run_id": audit.run_id or None,
        "seed": audit.seed,
        "sentence": audit_sentence(audit),
        "score": _score_data(audit.score),
        "operators": [
            {"name": each.name, "label": each.label, "family": each.family, **_score_data(each.score)}
            for each in audit.by_operator
        ],
        "passed_by_any": [
            {"eval_id": case.eval_id, "place": case.place, "agents": audit.agents_that_pass(case)}
            for case in audit.passed_by_any
        ],
        "proposals": [asdict(each) for each in audit.proposals],
        "metrics": [asdict(metric) for metric in audit.metrics],
        "metrics_that_fail_no_mutant": list(dict.fromkeys(metric.name for metric in audit.idle_metrics)),
        "evidence": [evidence_data(each) for each in audit.evidence],
        "judged": judged_data(audit.judged),
        "from_run": audit.from_run,
        "leakage": leakage_data(audit.leakage),
        "sets": [*map(_set_data, audit.sets)],
        "warnings": audit.warnings,
        **compared,
    }


def _set_data(one: SetAudit) -> dict[str, Any]:
    cases = [
        {**asdict(replace(case, mutants=())), "mutants": [*map(fate_data, case.mutants)]}
        for case in one.cases
    ]
    return {**asdict(replace(one, cases=[])), "cases": cases}


def _score_data(score: MutationScore) -> dict[str, Any]:
    interval = list(score.interval) if score.made else None
    return {**asdict(score), "share": score.share, "interval": interval}


# --- Annotations of GitHub -------------------------------------------------------------------------------------------


def github_lines(audit: AuditResult, change: AuditChange | None) -> Iterator[str]:
    """Yield the result as notice, an error for each case that proves nothing, and a warning for each with survivors; the worst first."""
    sentences = [*([change_sentence(change, audit)] if change is not None else []), audit_sentence(audit)]
    yield annotation("notice", "Proctor: audit", sentences)
    yield from _limited("error", [*_errors(audit, change)])
    survivors = filter(_survivor_count, sorted(audit.audited, key=_survivor_count, reverse=True))
    faults = [("faults survive", case, _surviving_faults(audit, case)) for case in survivors]
    yield from _limited("warning", faults)


def _errors(audit: AuditResult, change: AuditChange | None) -> Iterator[tuple[str, CaseAudit, str]]:
    """Yield the cases that a pull request must not add, each with a title and what is wrong."""
    lost = {each.eval_id: each for each in reversed(change.lost)} if change is not None else {}
    for case in audit.cases:
        if agents := audit.agents_that_pass(case):
            yield "an agent that does nothing passes", case, ", ".join(agents)
        if case.contradicts:
            yield "its recorded conversation does not pass", case, case.problem
        if case.eval_id in lost:
            yield "no longer caught", case, lost[case.eval_id].fault


def _surviving_faults(audit: AuditResult, case: CaseAudit) -> str:
    faults = [
        f"{audit.operators[each.operator][0]}: {each.fault}"
        for each in case.mutants
        if each.fate is Fate.SURVIVED
    ]
    return "\n".join(faults)


def _limited(level: str, cases: Sequence[tuple[str, CaseAudit, str]]) -> Iterator[str]:
    """Yield at most as many annotations of a level as a step shows."""
    first_cases = cases if len(cases) <= MOST else cases[: MOST - 1]
    for title, case, text in first_cases:
        lines = [*map(hidden, text.splitlines())]
        yield annotation(level, f"{title}: {case.eval_id}", lines, *file_and_line(case.place))
    if len(first_cases) < len(cases):
        yield annotation(
            level, "Proctor: audit", [f"{len(cases) - len(first_cases):,} more (--report json has all)"]
        )


# --- Blocks ----------------------------------------------------------------------------------------------------------


def audit_blocks(audit: AuditResult, style: TextStyle, change: AuditChange | None = None) -> Iterator[Block]:
    """Yield the audit as blocks, the same in every form."""
    yield from change_blocks(change, audit, style) if change is not None else ()
    yield text_line(audit_sentence(audit), role="strong")
    yield text_line(_scope(audit))
    yield Gap(is_everywhere=True)
    if audit.audited:
        if any(case.mutants for case in audit.audited):
            yield _table(audit, everything=style.verbose)
        yield from _not_applicable(audit, everything=style.verbose)
        yield Gap(is_everywhere=True)
    yield from judge_blocks(audit, everything=style.verbose)
    yield from leakage_blocks(audit.leakage, everything=style.verbose) if audit.leakage is not None else ()
    problems = [*_problem_lines(audit, everything=style.verbose)]
    yield from problems
    if problems:
        yield Gap(is_everywhere=True)
    yield from proposal_blocks(audit.proposals, style)
    if style.verbose:
        yield from _survivors(audit)
    yield from _next_steps(audit, verbose=style.verbose)


def _scope(audit: AuditResult) -> str:
    names = [each.path or each.eval_set_id for each in audit.sets]
    sources = list(dict.fromkeys(each.config_source for each in audit.sets))
    sets = names[0] if len(names) == 1 else count_text(len(names), "set")
    config = sources[0] if len(sources) == 1 else count_text(len(sources), "config")
    total = sum(1 for _ in audit.cases)
    source = f"conversations of run {audit.from_run}, " if audit.from_run else ""
    stored = f", stored as {audit.run_id}" if audit.run_id else ""
    return (
        f"{sets}: {len(audit.audited):,} of {count_text(total, 'case')} audited, {source}scored by {config}, "
        f"seed {audit.seed}{stored}"
    )


_COLUMNS = (
    Column("mutants of the recorded conversations", is_name=True),
    Column("caught", right=True),
    Column("share", right=True),
    Column("95 % CI", right=True),
    Column(""),
)


def _table(audit: AuditResult, *, everything: bool) -> Table:
    """Return the weak operators one by one, and the others by family unless everything is asked for."""
    applied = [each for each in audit.by_operator if each.score.made or each.score.errors]
    if everything:
        return Table(_COLUMNS, [_row(each.label, each.score) for each in applied], indent=2)
    weak = sorted(filter(_is_single, applied), key=lambda each: each.score.share or 0.0)
    rows = [_row(each.label, each.score) for each in weak]
    return Table(_COLUMNS, [*rows, *_family_rows(applied)], indent=2)


def _is_single(operator: OperatorScore) -> bool:
    """Whether an operator has its own row."""
    return operator.score.is_weak and operator.family != AGENTS


def _family_rows(applied: Sequence[OperatorScore]) -> Iterator[Row]:
    for family in dict.fromkeys(each.family for each in applied):
        rest = [each for each in applied if each.family == family and not _is_single(each)]
        if rest:
            yield _row(_family_label(family, rest, applied), _sum(rest))


def _family_label(family: str, rest: Sequence[OperatorScore], applied: Sequence[OperatorScore]) -> str:
    if family == AGENTS:
        return FAMILY_WORDS[AGENTS]
    is_whole = len(rest) == sum(each.family == family for each in applied)
    if len(rest) == 1:
        return rest[0].label
    return f"{'' if is_whole else 'other '}{FAMILY_WORDS[family]}: {len(rest)} classes"


def _sum(scores: Sequence[OperatorScore]) -> MutationScore:
    return MutationScore(
        sum(each.score.caught for each in scores),
        sum(each.score.made for each in scores),
        sum(each.score.errors for each in scores),
    )


def _row(label: str, score: MutationScore) -> Row:
    role: Role = "bad" if score.is_blind else "warning" if score.is_weak or score.errors else "good"
    word = "blind" if score.is_blind else "weak" if score.is_weak else ""
    errors = count_text(score.errors, "error") if score.errors else ""
    share = "–" if score.share is None else f"{percent(score.share)} %"
    cells = [
        label, f"{score.caught:,}/{score.made:,}", share, f"{bounds(*score.interval, UNICODE)} %" if score.made else "–",
        ", ".join(filter(None, (word, errors))),
    ]  # fmt: skip
    return Row([[TextSpan(text, role if number in (2, 4) else "")] for number, text in enumerate(cells)])


def _not_applicable(audit: AuditResult, *, everything: bool) -> Iterator[Block]:
    idle = [each.label for each in audit.by_operator if not (each.score.made or each.score.errors)]
    first_names = idle if everything else idle[:_FEW]
    more = f" and {len(idle) - len(first_names)} more (-v)" if len(first_names) < len(idle) else ""
    sampled = (
        ", or not in the sample of the judges" if audit.judged is not None and audit.judged.limit else ""
    )
    if idle:
        yield text_line(
            f"  not applicable to these cases{sampled}: {', '.join(first_names)}{more}", role="dim"
        )


def _problem_lines(audit: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield what is wrong with single cases and with the criteria, the worst first."""
    passed = [(case, ", ".join(audit.agents_that_pass(case))) for case in audit.passed_by_any]
    yield from _case_lines("that an agent passes that does nothing:", passed)
    failed = [(case, case.problem) for case in audit.contradictions]
    what = "whose own recorded conversation does not pass or cannot be scored (no mutants are counted):"
    yield from _case_lines(what, failed)
    yield from _left_out_cases(audit)
    same = [f"{case.eval_id} (as {case.same_as})" for case in audit.audited if case.same_as]
    if same:
        more = "…" if len(same) > _FEW else ""
        yield text_line(f"{count_text(len(same), 'redundant case')}: {', '.join(same[:_FEW])}{more}")
    yield from criteria_lines(audit, everything=everything)
    fates = chain.from_iterable(case.mutants for case in audit.audited)
    yield from _error_line([each for each in fates if each.fate is Fate.ERROR])


def _case_lines(what: str, cases: Sequence[tuple[CaseAudit, str]]) -> Iterator[Block]:
    if cases:
        yield text_line(f"{count_text(len(cases), 'case')} {what}", role="bad")
    for case, why in cases[:_FEW]:
        yield text_line(f"  {case_name(case)}: {one_line(why, _LONGEST)}")
    if len(cases) > _FEW:
        yield text_line(f"  … and {len(cases) - _FEW:,} more (--json has all)")


def _left_out_cases(audit: AuditResult) -> Iterator[Block]:
    reasons: dict[str, list[CaseAudit]] = {}
    for case in audit.cases:
        if case.problem and not case.contradicts:
            reasons.setdefault(case.problem, []).append(case)
    for reason, cases in reasons.items():
        names = ", ".join(case.eval_id for case in cases[:_FEW])
        yield text_line(
            f"{count_text(len(cases), 'case')} without mutants: {one_line(reason, _LONGEST)}: {names}{'…' if len(cases) > _FEW else ''}"
        )


def _error_line(errors: Sequence[MutantFate]) -> Iterator[Block]:
    if errors:
        text = f"{count_text(len(errors), 'mutant')} could not be made or scored, for example: {one_line(errors[0].reason, _LONGEST)}"
        yield text_line(text, role="error")


def _survivors(audit: AuditResult) -> Iterator[Block]:
    for case in audit.audited:
        survivors = [each for each in case.mutants if each.fate is Fate.SURVIVED]
        if survivors:
            yield text_line(f"{case_name(case)} passes with:", role="strong")
        for each in survivors:
            turn = "" if each.turn is None else f"turn {each.turn + 1}: "
            yield text_line(f"  {audit.operators[each.operator][0]}: {turn}{each.fault}")
    yield Gap(is_everywhere=True)


def _next_steps(audit: AuditResult, *, verbose: bool) -> Iterator[Block]:
    survived = audit.score.made - audit.score.caught
    if survived and not verbose:
        and_changes = ", and each change ready to paste" if audit.proposals else ""
        mutants = "surviving mutant" if survived == 1 else f"{survived:,} surviving mutants"
        yield text_line(f"next: -v lists the {mutants} by case{and_changes}")
    elif survived:
        worst = max(audit.audited, key=_survivor_count).eval_id
        how = (
            f"proctor show {audit.run_id} {shlex.quote(worst)}"
            if audit.run_id
            else f"proctor audit … --case {shlex.quote(worst)}"
        )
        yield text_line(f"next: `{how}` shows what was planted there, and why it passes")
    yield from advice_lines(audit)
    if any(case.problem.startswith(ASSERTS_NOTHING) for case in audit.cases):
        yield text_line(
            "next: `proctor check` names the place of each case that asserts nothing, and what it needs"
        )


def _survivor_count(case: CaseAudit) -> int:
    return sum(each.fate is Fate.SURVIVED for each in case.mutants)
