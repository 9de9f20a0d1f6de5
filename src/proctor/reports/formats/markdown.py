"""A run as Markdown for a pull request or a job's summary: the verdict first, what did not pass, the evidence folded.

GitHub takes 65,536 characters in a comment; of many cases the worst are named, within `ROOM`, and the others are counted.
Text from elsewhere is code (`markdown_text`): no Markdown is read there, and neither mentions nor links nor pictures are
made of it (docs/reference/results/reports.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, TextIO
from urllib.parse import quote

from proctor.common.safe_text import cut_text, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.agent_matrix import line_up, matrix_blocks, names_to_list
from proctor.reports.content.case_digest import Digest, WorstCases, rate_sentence
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.failure_causes import SharedCauses
from proctor.reports.content.public_text import file_and_line
from proctor.reports.content.run_blocks import (
    IsListed,
    agent_fact,
    figure_blocks,
    problem_table,
    rate_facts,
    run_facts,
    set_blocks,
    verdict_block,
)
from proctor.reports.content.symbols import UNICODE
from proctor.reports.content.text_blocks import Table, TextStyle
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.formats import markdown_text as markdown
from proctor.reports.formats.markdown_blocks import diff_lines, markdown_of, table_of, table_rows
from proctor.reports.formats.markdown_text import code
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

ROOM = 60_000
"""Characters of a whole report."""
MOST = 50
"""Cases that are named of one run."""
MOST_RUNS = 20
_ROOM_OF_MATRIX = 10_000
"""Characters of the rows of several agents side by side."""
_LOOK = TextStyle(UNICODE)
_LONGEST_NAME = 120
_LONGEST_EVIDENCE = 4_000


class MarkdownReport:
    """The verdict, figures with their uncertainty, a table of what did not pass, and its evidence folded away."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, each within its share of the room."""
        encoding = getattr(out, "encoding", None)
        out.writelines(encodable(part, encoding) for part in _parts(runs, options))


def _parts(runs: Sequence[RunResult], options: ReportOptions) -> Iterator[str]:
    if options.note:
        yield f"### {UNICODE.rest} nothing was run\n\n{code(options.note, _LONGEST_EVIDENCE)}\n\n"
    visible_runs = runs[:MOST_RUNS]
    if len(visible_runs) == 1:
        yield from _Section(visible_runs[0], ROOM, options.picture).parts()
    elif visible_runs:
        yield from _several_agents(visible_runs, options)
    if left := Counter(WORDS[run.outcome] for run in runs[MOST_RUNS:]):
        counts = ", ".join(f"{count} {word}" for word, count in left.items())
        yield f"and {left.total()} more agents: {counts}\n"


def _several_agents(runs: Sequence[RunResult], options: ReportOptions) -> Iterator[str]:
    """Return the cases of the agents side by side, and a section for each agent below its name."""
    rows = line_up(runs)
    for block in matrix_blocks(runs, rows, _LOOK, only_different=options.only_different):
        if isinstance(block, Table):
            visible_rows = _fitting(table_rows(block), _ROOM_OF_MATRIX)
            if left := len(block.rows) - len(visible_rows):
                visible_rows.append(f"\n… and {left:,} more")
            yield table_of(block, visible_rows)
        else:
            yield markdown_of([block])
    names = names_to_list(rows, only_different=options.only_different)
    picture = options.picture
    for run in runs:
        heading = f"## {code(run.agent)}\n\n"
        yield heading
        room = (ROOM - 2 * _ROOM_OF_MATRIX) // len(runs) - len(heading)
        yield from _Section(
            run, room, picture, lambda case: (case.eval_set_id, case.eval_id) in names
        ).parts()
        picture = ""


class _Section:
    """The section about one run, with the cases that are listed."""

    def __init__(self, run: RunResult, room: int, picture: str, is_listed: IsListed = lambda _: True) -> None:
        self._run = run
        self._picture = picture
        self._room = room
        self._digest, self._worst_cases, self._causes = Digest(), WorstCases(MOST), SharedCauses()
        for case in run.cases:
            self._digest.add(case)
            if is_listed(case):
                self._worst_cases.add(case)
            self._causes.add(case)

    def parts(self) -> Iterator[str]:
        """Return the parts in order; the table takes at most half of the room, the evidence what is left of it."""
        picture = f"![{_ALT}]({quote(self._picture)})\n\n" if self._picture else ""
        head = self._head() + picture + self._shared_causes()
        problem_cases = list(self._worst_cases.problem_cases())
        problems = problem_table(self._run, problem_cases, _LOOK)
        rows = _fitting(table_rows(problems), self._room // 2 - len(head))
        if more := self._worst_cases.missed + len(problems.rows) - len(problem_cases) - len(rows):
            rows.append(f"\n… and {more:,} more that did not pass")
        table = table_of(problems, rows) if rows else ""
        yield head + table
        visible_cases = [case for case in problem_cases[: len(rows)] if case.outcome is not Outcome.NOT_RUN]
        details = _fitting(list(self._details()), self._room // 4)
        left = self._room - len(head) - len(table) - sum(map(len, details)) - _TAGS
        if evidence := _fitting([_evidence(case) for case in visible_cases], left):
            count = f"{len(evidence)} case{'s' * (len(evidence) > 1)}"
            yield markdown.collapsible(f"Evidence of {count}", "".join([_LEGEND, *evidence]))
        yield from details

    def _head(self) -> str:
        run = self._run
        facts = [agent_fact(run, _LOOK), *rate_facts(run, _LOOK), *run_facts(run)]
        return markdown_of([verdict_block(run, self._digest, _LOOK), *facts])

    def _shared_causes(self) -> str:
        """Return what several failures have in common, each cause once."""
        causes = self._causes.table()
        rows = _fitting(table_rows(causes), self._room // 8)
        return table_of(causes, rows) if rows else ""

    def _details(self) -> Iterator[str]:
        if flaky := [*map(_flaky_text, self._worst_cases.flaky())]:
            yield _list(f"{self._digest.repeats.flaky} flaky", flaky)
        if warnings := self._digest.warnings(self._run):
            texts = (code(public_text.hidden(warning)) for warning in warnings)
            yield _list(f"{len(warnings)} warning{'s' * (len(warnings) > 1)}", texts)
        figures = figure_blocks(self._run, self._digest, _LOOK, has_means=True)
        parts = [markdown_of([block]) for block in (*set_blocks(self._run, _LOOK), *figures)]
        yield markdown.collapsible("Figures and sets", "".join(_fitting(parts, self._room // 8)))


_LEGEND = "`-` expected, `+` actual\n\n"
_ALT = "Outcomes of the cases, and a histogram of each metric's scores with its threshold"
_TAGS = 200
"""Characters around the evidence of all cases."""


def _fitting(parts: Sequence[str], room: int) -> list[str]:
    """Return as many parts as there is room for, from the first on."""
    fitting = []
    for part in parts:
        room -= len(part) + 1
        if room < 0:
            break
        fitting.append(part)
    return fitting


def _evidence(case: CaseResult) -> str:
    """Return a heading and the evidence of a case."""
    file, line = file_and_line(case.place)
    sign = UNICODE.outcomes.get(case.outcome, UNICODE.rest)
    place = f"{code(f'{file}:{line}' if line else file)}\n\n" if file else ""
    lines = _first_lines(diff_lines(evidence_block(case)), _LONGEST_EVIDENCE)
    return f"#### {sign} {code(_name(case))}\n\n{place}{markdown.fence(lines, 'diff') if lines else ''}"


def _flaky_text(case: CaseResult) -> str:
    """Return how many trials of a flaky case passed, and what the first of the others missed."""
    missed = f"; {code(public_text.hidden(case.missed))}" if case.missed else ""
    return f"{code(_name(case))}: {rate_sentence(case, UNICODE)}{missed}"


def _first_lines(lines: Iterable[str], room: int) -> list[str]:
    """Return the first lines with at most `room` characters."""
    result: list[str] = []
    for line in lines:
        result.append(cut_text(line, room))
        room -= len(line)
        if room <= 0:
            break
    return result


def _list(heading: str, items: Iterable[str]) -> str:
    """Return Markdown texts behind a heading that unfolds them, as many as there is room for."""
    visible_items = _fitting([f"- {item}\n" for item in items], _LONGEST_EVIDENCE)
    return markdown.collapsible(heading, "".join([*visible_items, "\n"]))


def _name(case: CaseResult) -> str:
    names = (cut_text(name, _LONGEST_NAME) for name in (case.eval_set_id, case.eval_id))
    return "/".join(names)
