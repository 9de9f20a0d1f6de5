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

from proctor.common.safe_text import count_text, cut_text, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_digest import (
    Digest,
    Foremost,
    added_text,
    is_repeated,
    mean_text,
    means_of,
    rate_sentence,
)
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.failure_causes import LEAST_SHARED, SharedCauses
from proctor.reports.content.public_text import place_of
from proctor.reports.content.summary import (
    config_sources,
    duration,
    fault_texts,
    left_out,
    money_of,
    rate,
    sentence,
    set_names,
)
from proctor.reports.content.symbols import UNICODE
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.formats import markdown_text as markdown
from proctor.reports.formats.markdown_blocks import diff_lines
from proctor.reports.formats.markdown_text import code, table_row
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

ROOM = 60_000
"""Characters of a whole report."""
MOST = 50
"""Cases that are named of one run."""
MOST_RUNS = 20
_LONGEST_NAME = 120
_MOST_CAUSES = 5
_LONGEST_REASON = 400
_LONGEST_EVIDENCE = 4_000


class MarkdownReport:
    """The verdict, figures with their uncertainty, a table of what did not pass, and its evidence folded away."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, each within its share of the room."""
        encoding = getattr(out, "encoding", None)
        out.writelines(encodable(part, encoding) for part in _parts(runs, options.note, options.picture))


def _parts(runs: Sequence[RunResult], note: str, picture: str) -> Iterator[str]:
    if note:
        yield f"### {UNICODE.rest} nothing was run\n\n{code(note, _LONGEST_EVIDENCE)}\n\n"
    visible_runs = runs[:MOST_RUNS]
    for run in visible_runs:
        yield from _Section(run, ROOM // len(visible_runs), picture).parts()
        picture = ""
    if left := Counter(WORDS[run.outcome] for run in runs[MOST_RUNS:]):
        counts = ", ".join(f"{count} {word}" for word, count in left.items())
        yield f"and {left.total()} more agents: {counts}\n"


class _Section:
    """The section about one run."""

    def __init__(self, run: RunResult, room: int, picture: str) -> None:
        self._run = run
        self._picture = picture
        self._room = room
        self._digest, self._foremost, self._causes = Digest(), Foremost(MOST), SharedCauses()
        for case in run.cases:
            self._digest.add(case)
            self._foremost.add(case)
            self._causes.add(case)

    def parts(self) -> Iterator[str]:
        """Return the parts in order; the table takes at most half of the room, the evidence what is left of it."""
        picture = f"![{_ALT}]({quote(self._picture)})\n\n" if self._picture else ""
        head = self._head() + picture + self._shared_causes()
        red, broken = list(self._foremost.problem_cases()), list(self._broken())
        rows = _fitting([*broken, *map(_row, red)], self._room // 2 - len(head))
        if more := self._foremost.missed + len(broken) - len(rows):
            rows.append(table_row(("", f"… and {more:,} more that did not pass", "")))
        table = markdown.table(("", "case", "reason"), rows) if rows else ""
        yield head + table
        visible_cases = [case for case in red[: len(rows)] if case.outcome is not Outcome.NOT_RUN]
        details = _fitting(list(self._details()), self._room // 4)
        left = self._room - len(head) - len(table) - sum(map(len, details)) - _TAGS
        if evidence := _fitting([_evidence(case) for case in visible_cases], left):
            count = f"{len(evidence)} case{'s' * (len(evidence) > 1)}"
            yield markdown.folded(f"Evidence of {count}", "".join([_LEGEND, *evidence]))
        yield from details

    def _head(self) -> str:
        run, digest = self._run, self._digest
        verdict = sentence(run, flaky=digest.repeats.flaky)
        is_ours = not run.stopped_by  # it may be text from elsewhere
        text = markdown.sentence(verdict) if is_ours else code(public_text.hidden(verdict))
        facts = [code(run.agent), *map(markdown.sentence, self._facts())]
        facts += [f"run {code(run.run_id)}"] if run.run_id else []
        return f"### {UNICODE.outcomes.get(run.outcome, '!')} {text}\n\n{' · '.join(facts)}\n\n"

    def _shared_causes(self) -> str:
        """Return what several failures have in common, each cause once."""
        lines = [
            f"- {one.cases:,} cases: {code(public_text.hidden(one.cause.text), _LONGEST_REASON)}\n"
            for one in self._causes.groups(LEAST_SHARED)[:_MOST_CAUSES]
        ]
        return "".join([*visible_lines, "\n"]) if (visible_lines := _fitting(lines, self._room // 8)) else ""

    def _facts(self) -> Iterator[str]:
        run = self._run
        yield f"{len(run.cases):,} case{'s' * (len(run.cases) != 1)}"
        if run.num_runs > 1:
            added = added_text(run, self._digest.repeats.trials)
            yield f"until decided: {added}" if added else f"{run.num_runs} trials each"
        if share := rate(run, UNICODE):
            yield share
        yield from fault_texts(self._digest.whose_fault, UNICODE)
        if run.duration:
            yield duration(run.duration)
        yield from money_of(run)

    def _broken(self) -> Iterator[str]:
        """Return the sets that could not be run, and the failure of the run."""
        for name, one in zip(set_names(self._run.sets), self._run.sets, strict=True):
            if one.failure is not None:
                yield table_row(("! set", code(name), code(public_text.cause(one.failure), _LONGEST_REASON)))
        if self._run.failure is not None:
            cause = public_text.cause(self._run.failure)
            yield table_row(("! run", code(self._run.agent), code(cause, _LONGEST_REASON)))

    def _details(self) -> Iterator[str]:
        flaky = [f"{code(_name(case))}: {rate_sentence(case, UNICODE)}" for case in self._foremost.flaky()]
        if flaky:
            yield _list(f"{self._digest.repeats.flaky} flaky", flaky)
        if warnings := self._digest.warnings(self._run):
            texts = (code(public_text.hidden(warning), _LONGEST_REASON) for warning in warnings)
            yield _list(f"{len(warnings)} warning{'s' * (len(warnings) > 1)}", texts)
        yield _list("Metrics and sets", [*self._metrics(), *self._sets()])

    def _metrics(self) -> Iterator[str]:
        """Each metric's mean over all trials, with its standard error."""
        for name, mean in means_of(self._digest.repeats, self._digest.gating).items():
            yield f"{code(name)}: mean {mean_text(mean, UNICODE)}, {mean.cases:,} of {count_text(self._digest.repeats.cases, 'case')}"

    def _sets(self) -> Iterator[str]:
        for name, one in zip(set_names(self._run.sets), self._run.sets, strict=True):
            yield f"{code(name)}: {count_text(one.cases, 'case')}"
        for source in config_sources(self._run.sets):
            yield f"criteria: {code(source)}"
        for name, why in left_out(self._run).items():
            yield f"left out: {code(name)} ({code(why)})"
        if took := self._digest.figures():
            yield ", ".join(took)


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


def _row(case: CaseResult) -> str:
    trials = f" · {rate_sentence(case, UNICODE)}" if is_repeated(case) else ""
    sign = f"{UNICODE.outcomes.get(case.outcome, UNICODE.rest)} {WORDS[case.outcome]}"
    return table_row((sign, code(_name(case)), code(public_text.reason(case), _LONGEST_REASON) + trials))


def _evidence(case: CaseResult) -> str:
    """Return a heading and the evidence of a case."""
    file, line = place_of(case.place)
    sign = UNICODE.outcomes.get(case.outcome, UNICODE.rest)
    place = f"{code(f'{file}:{line}' if line else file)}\n\n" if file else ""
    lines = _first_lines(diff_lines(evidence_block(case)), _LONGEST_EVIDENCE)
    return f"#### {sign} {code(_name(case))}\n\n{place}{markdown.fence(lines, 'diff') if lines else ''}"


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
    return markdown.folded(heading, "".join([*visible_items, "\n"]))


def _name(case: CaseResult) -> str:
    names = (cut_text(name, _LONGEST_NAME) for name in (case.eval_set_id, case.eval_id))
    return "/".join(names)
