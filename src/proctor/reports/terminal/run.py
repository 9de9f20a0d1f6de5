"""A run on a terminal: the cases with their reasons and evidence, and the verdict as the last sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, TextIO

from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from proctor.common.safe_text import count_text
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import summary
from proctor.reports.content.case_digest import (
    Digest,
    Row,
    added_text,
    is_repeated,
    ks_of,
    line_up,
    mean_text,
    means_of,
    repeat_figures,
    repeated_sets,
    rule_text,
    runs_text,
)
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.failure_causes import LEAST_SHARED, SharedCauses
from proctor.reports.content.summary import VOID, fault_texts, money_of
from proctor.reports.content.symbols import short_names
from proctor.reports.terminal.case_table import CaseRows
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.schema.results.case_result import Repeats
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.schema.results.score import TrialRule, score_text

_BAR = 40
_MOST_SETS = 12
_MOST_CAUSES = 5


class TerminalReport:
    """The report for people at a terminal; several runs are shown side by side."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Draw `runs` on `out`; without colour not one escape sequence is written."""
        page = Page(out, options)
        page.print()
        if len(runs) == 1:
            _draw_run(page, runs[0], options)
        elif runs:
            _draw_matrix(page, runs, options)
        page.print()


def _draw_run(page: Page, run: RunResult, options: ReportOptions) -> None:
    digest = Digest()
    rows = CaseRows(page, run, digest, verbose=options.verbose)
    _draw_header(page, run)
    _draw_bar(page, run, digest)
    page.print()
    _draw_broken_sets(page, run)
    rows.draw()
    _draw_causes(page, rows.causes)
    _draw_verdict(page, run, digest, rows.shown_warnings)


def _draw_matrix(page: Page, runs: Sequence[RunResult], options: ReportOptions) -> None:
    _draw_header(page, runs[0], agent=f"{len(runs)} agents")
    page.print()
    Matrix(page, runs, only_different=options.only_different, verbose=options.verbose).draw()
    different = {(row.eval_set_id, row.eval_id) for row in line_up(runs) if row.differs}
    for run in runs:
        page.print()
        page.print(page.text(run.agent, "bold"))
        digest = Digest()
        only = different if options.only_different else None
        rows = CaseRows(page, run, digest, verbose=options.verbose, failures_only=True, only=only)
        if not run.passed:
            _draw_broken_sets(page, run)
            rows.draw()
            _draw_causes(page, rows.causes)
        _draw_verdict(page, run, digest, rows.shown_warnings, gap=False)


def _draw_header(page: Page, run: RunResult, *, agent: str = "") -> None:
    sources, rules = summary.config_sources(run.sets), summary.rules(run.sets)
    parts = [page.text(agent or run.agent, "bold")]
    parts.append(page.text(summary.set_name(run.sets[0]) if len(run.sets) == 1 else f"{len(run.sets)} sets"))
    parts.append(page.text(_cases_text(page, run)))
    parts += [page.text(text, "dim") for text in _common_settings(sources, rules)]
    page.print_parts(parts)
    is_broken = len(run.sets) > 1 and any(one.failure for one in run.sets)
    if len(sources) > 1 or len(rules) > 1 or is_broken:
        _draw_sets(page, run)
    _draw_left_out(page, run)


def _common_settings(sources: Sequence[str], rules: Sequence[TrialRule | None]) -> Iterator[str]:
    """Yield the source of the criteria and the rule of trials, if all sets share them."""
    if len(sources) == 1:
        yield f"criteria from {sources[0]}"
    if len(rules) == 1 and rules[0] is not None:
        yield rule_text(rules[0])


def _cases_text(page: Page, run: RunResult) -> str:
    runs = runs_text(run.sets, run.num_runs, page.marks)
    trials = f" {page.marks.times} {runs}" if runs else ""
    count = sum(one.cases for one in run.sets) or len(run.cases)
    return f"{count_text(count, 'case')}{trials}"


def _draw_left_out(page: Page, run: RunResult) -> None:
    """Draw the metrics that were left out, those of one reason on one line."""
    left_out = summary.left_out(run)
    for why in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, reason in left_out.items() if reason == why)
        page.print(page.text(f"left out ({why}): {names}", "dim"))


def _draw_sets(page: Page, run: RunResult) -> None:
    """Draw the config of each set, if there are several."""
    grid = page.grid(Column(overflow="fold"), Column(justify="right", no_wrap=True), Column(overflow="fold"))
    for name, one in zip(summary.set_names(run.sets[:_MOST_SETS]), run.sets, strict=False):
        grid.add_row(page.text(name), *_cases_and_criteria(page, one))
    page.print(grid, indent=4)
    for source in summary.config_sources(run.sets[_MOST_SETS:]):
        count = sum(summary.config_source(one) == source for one in run.sets[_MOST_SETS:])
        page.print(page.text(f"… {count} more sets: criteria from {source}", "dim"), indent=4)


def _cases_and_criteria(page: Page, one: SetSummary) -> tuple[Text, Text]:
    if one.failure:
        return Text(), Text("could not be run", STYLES[Outcome.ERROR])
    source = summary.config_source(one)
    runs = f" {page.marks.times} {one.num_runs}" if one.num_runs > 1 else ""
    texts = [f"criteria from {source}" if source else "", rule_text(one.rule) if one.rule else ""]
    criteria = page.joined(page.text(text, "dim") for text in texts if text)
    return Text(f"{one.cases}{runs}", "dim"), criteria


def _draw_bar(page: Page, run: RunResult, digest: Digest) -> None:
    """All trials as one bar, coloured by outcome, and their counts."""
    done = digest.trials.total()
    if not done:
        return
    counts = {outcome: digest.trials[outcome] for outcome in Outcome if digest.trials[outcome]}
    bar = Text()
    for outcome, length in _shares(counts, min(_BAR, page.width // 3)).items():
        bar.append(page.marks.bar * length, STYLES.get(outcome, "dim"))
    counts_text = [
        Text(f"{n} {page.marks.outcome(outcome)}", STYLES.get(outcome, "dim"))
        for outcome, n in counts.items()
    ]
    planned = max(done, sum(one.cases * one.num_runs for one in run.sets))
    whole = Text.assemble(bar, f"  {done}/{planned}  ", Text("  ").join(counts_text))
    if run.duration:
        whole.append(f"   {summary.duration(run.duration)}", "dim")
    if run.judging_duration is not None:
        whole.append(f"   scored again in {summary.duration(run.judging_duration)}", "dim")
    page.print(whole)


def _shares(counts: dict[Outcome, int], length: int) -> dict[Outcome, int]:
    """Divide a bar: everything that happened gets at least one sign, what happened most pays for it."""
    total = sum(counts.values())
    shares = {outcome: max(1, length * count // total) for outcome, count in counts.items()}
    most = max(counts, key=lambda outcome: counts[outcome])
    shares[most] = max(1, shares[most] + length - sum(shares.values()))
    return shares


def _draw_broken_sets(page: Page, run: RunResult) -> None:
    mark = page.marks.outcome(Outcome.ERROR)
    lines = [
        f"{mark} error  {name} could not be run: {one.failure.cause}"
        for name, one in zip(summary.set_names(run.sets), run.sets, strict=True)
        if one.failure
    ]
    for line in lines:
        page.print(page.text(line, STYLES[Outcome.ERROR], lines=True))
    if lines:
        page.print()


def _draw_causes(page: Page, causes: SharedCauses) -> None:
    """Draw what several failures have in common, each cause once."""
    groups = causes.groups(LEAST_SHARED)
    if not groups:
        return
    page.print()
    grid = page.grid(Column(justify="right", no_wrap=True), Column(overflow="fold"))
    for one in groups[:_MOST_CAUSES]:
        grid.add_row(Text(f"{one.cases:,} cases", "dim"), page.prose(one.cause.text))
    page.print(grid)


def _draw_verdict(
    page: Page, run: RunResult, digest: Digest, shown_warnings: Mapping[str, int], *, gap: bool = True
) -> None:
    """Draw warnings, the verdict as a sentence, and the usage of a turn."""
    _draw_warnings(page, digest.warnings(run, shown_warnings), gap=gap)
    if gap:
        page.print()
    mark, style = page.marks.outcome(run.outcome), STYLES.get(run.outcome, "")
    word, _, rest = summary.sentence(run, flaky=digest.repeats.flaky).partition(": ")
    verdict = Text.assemble((f"{mark} {word}", f"bold {style}"), ": ", page.text(rest))
    rate = page.text(summary.rate(run, page.marks))
    below = [] if not rate.plain else [rate]
    if rate.plain and verdict.cell_len + rate.cell_len + 8 <= page.width:
        verdict.append("      ").append_text(below.pop())
    page.print(verdict)
    figures = [page.text(figure, "dim") for figure in digest.figures()]
    if added := added_text(run, digest.repeats.trials):
        page.print(page.text(f"until decided: {added}", "dim"), indent=4)
    if digest.is_repeated:
        rules = summary.rules(run.sets)
        if parts := [*below, *_row_of_trials(page, digest.repeats, rules)]:
            page.print_parts(parts, indent=4)
        _draw_sets_of_trials(page, digest.repeats, rules)
        _draw_means(page, digest)
        below = []
    if below or figures:
        page.print_parts([*below, *figures], indent=4)
    _draw_faults(page, digest)
    _draw_money(page, run)


def _draw_warnings(page: Page, warnings: Sequence[str], *, gap: bool) -> None:
    if warnings and gap:
        page.print()
    for warning in warnings:
        page.print(Text.assemble(("warning ", "yellow"), page.prose(warning)))


def _draw_faults(page: Page, digest: Digest) -> None:
    """Draw the agent-fault and simulator-fault rates of failed simulated conversations."""
    if texts := fault_texts(digest.whose_fault, page.marks):
        page.print_parts(
            [page.text("simulated users", "dim"), *(page.text(one, "dim") for one in texts)], indent=4
        )


def _draw_money(page: Page, run: RunResult) -> None:
    """Draw the model usage and the calibration of the judges."""
    if spent := money_of(run):
        page.print_parts([page.text("cost", "dim"), *(page.text(one, "dim") for one in spent)], indent=4)
    for name, badge in run.badges.items():
        page.print(
            Text.assemble(
                page.text(f"{name} ", "dim"), page.text(badge, "yellow" if badge.startswith(VOID) else "dim")
            ),
            indent=4,
        )


def _row_of_trials(page: Page, repeats: Repeats, rules: Sequence[TrialRule | None]) -> Iterator[Text]:
    """Return pass^k and pass@k: the probability that all of k trials pass, and that one does."""
    for name, mean in repeat_figures(repeats, rules):
        yield Text.assemble((f"{name} ", "dim"), mean_text(mean, page.marks))


_MOST_SETS_WITH_REPEATS = 8


def _draw_sets_of_trials(page: Page, repeats: Repeats, rules: Sequence[TrialRule | None]) -> None:
    """The same for each eval set, where there are several."""
    sets = list(repeated_sets(repeats).items())
    grid = page.grid(*(Column(overflow="fold") for _ in range(2)))
    for eval_set_id, one in sets[:_MOST_SETS_WITH_REPEATS]:
        flaky = [Text(f"{one.flaky} {FLAKY}", FLAKY_STYLE)] if one.flaky else []
        grid.add_row(
            page.text(eval_set_id),
            page.joined([*flaky, *_row_of_trials(page, one, rules)] or [Text("steady")]),
        )
    if sets:
        page.print(grid, indent=6)
    if len(sets) > _MOST_SETS_WITH_REPEATS:
        page.print(page.text(f"… {len(sets) - _MOST_SETS_WITH_REPEATS} more sets", "dim"), indent=6)


def _draw_means(page: Page, digest: Digest) -> None:
    means = means_of(digest.repeats, digest.gating)
    texts = [
        Text.assemble(page.text(f"{name} ", "dim"), mean_text(mean, page.marks))
        for name, mean in means.items()
    ]
    if texts:
        texts[0] = Text.assemble(("means ", "dim"), texts[0])
        page.print_parts(texts, indent=4)


# --- several agents on the same cases, side by side -------------------------------------------------------------------


MOST_ROWS = 50
"""Rows in which all agents pass that are listed, unless every one is asked for."""

_LEAST_CELL = 8


class Matrix:
    """Draws one table: a row for each case, a column for each agent, cells with sign and score."""

    def __init__(
        self, page: Page, runs: Sequence[RunResult], *, only_different: bool = False, verbose: bool = False
    ) -> None:
        self._page = page
        self._runs = runs
        self._rows = line_up(runs)
        self._only_different = only_different
        self._verbose = verbose
        self._several_sets = len({row.eval_set_id for row in self._rows}) > 1
        names = {row.metric for row in self._rows if row.metric}
        self._short = short_names(sorted(names))

    def draw(self) -> None:
        """Draw rows that differ first, then those in which all failed, then the others."""
        different = [row for row in self._rows if row.differs]
        same = [row for row in self._rows if not row.differs]
        if not self._only_different:
            self._draw_all(different, same)
            return
        self._draw_table(different)
        are = "is" if len(same) == 1 else "are"
        text = f"{len(same)} of {len(self._rows)} cases {are} the same for all agents"
        self._page.print(self._page.text(text, "dim"))

    def _draw_all(self, different: Sequence[Row], same: Sequence[Row]) -> None:
        rows = [*different, *sorted(same, key=lambda row: row.all_passed)]
        quiet = sum(row.all_passed for row in same)
        hidden = 0 if self._verbose else max(0, quiet - MOST_ROWS)
        self._draw_table(rows[: len(rows) - hidden])
        if hidden:
            self._page.print(self._page.text(f"… {hidden} more on which all agree: passed", "dim"))

    def _draw_table(self, rows: Sequence[Row]) -> None:
        heads = [self._page.cut(run.agent, self._cell_width(), "bold") for run in self._runs]
        says_metric = self._has_room_for_metrics(heads)
        count = 1 + len(heads) + says_metric
        grid = self._page.grid(Column(overflow="fold"), *(Column(no_wrap=True) for _ in range(count - 1)))
        grid.add_row(*[Text("case", "dim"), *heads, Text("score of", "dim")][:count])
        for row in rows:
            cells = [self._cell(case, row.metric) for case in row.cases]
            metric = self._page.text(self._short.get(row.metric, ""), "dim")
            grid.add_row(*[self._page.text(self._label(row)), *cells, metric][:count])
        passed = (f"{run.counts.get(Outcome.PASSED, 0)} of {len(run.cases)}" for run in self._runs)
        grid.add_row(Text("passed", "dim"), *(Text(text, "dim") for text in passed))
        if any(run.num_runs > 1 for run in self._runs):
            self._add_repeats(grid)
        self._page.print(grid)

    def _has_room_for_metrics(self, heads: Sequence[Text]) -> bool:
        """The names of metrics go first where the page is narrow: which case it is matters more."""
        cells = sum(max(head.cell_len, _LEAST_CELL) + 2 for head in heads)
        ids = max((cell_len(self._label(row)) for row in self._rows), default=0)
        metric = max(map(len, self._short.values()), default=0)
        return 2 + ids + 2 + cells + metric <= self._page.width

    def _label(self, row: Row) -> str:
        return row.name if self._several_sets else row.eval_id

    def _cell_width(self) -> int:
        ids = max((cell_len(self._label(row)) for row in self._rows), default=8)
        return max(
            10, (self._page.width - min(ids, self._page.width // 3) - 20) // max(1, len(self._runs)) - 2
        )

    def _cell(self, case: CaseResult | None, metric: str) -> Text:
        if case is None:
            return Text(f"{self._page.marks.rest} {WORDS[Outcome.NOT_RUN]}", "dim")
        verdict = case.metrics.get(metric)
        scored = verdict is not None and case.outcome in {
            Outcome.PASSED,
            Outcome.FAILED,
            Outcome.INCONCLUSIVE,
        }
        score = score_text(verdict.score, verdict.threshold) if verdict is not None and scored else ""
        text = Text(f"{self._page.marks.outcome(case.outcome)} ", STYLES.get(case.outcome, "dim"))
        text.append(score or WORDS[case.outcome])
        if is_repeated(case):
            text.append(f" {case.trials_passed}/{len(case.trials)}", FLAKY_STYLE if case.flaky else "dim")
        return text

    def _add_repeats(self, grid: Table) -> None:
        """How sure it is that all trials of a case pass, for each agent."""
        repeats = [run.repeats for run in self._runs]
        ks = [k for each in repeats for k in ks_of(each)]
        if not ks:
            return
        k = max(ks)
        means = [each.pass_hat(k) for each in repeats]
        marks = self._page.marks
        grid.add_row(
            Text(f"pass^{k}", "dim"), *(Text(mean_text(mean, marks) if mean else "", "dim") for mean in means)
        )
