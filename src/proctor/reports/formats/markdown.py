"""A run as Markdown for a pull request or a job's summary: the verdict first, what did not pass, the rest folded.

GitHub takes 65,536 characters in a comment; of many cases the worst are named, within `ROOM`, and the others are counted.
Text from elsewhere is in HTML blocks, which end at an empty line and nothing else, as `<code>` or `<pre>`: no
Markdown is read there, and neither mentions nor links nor pictures are made of it (docs/reference/results/reports.md).
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_text import added_text, is_repeated, mean_text, means_of, rate_sentence
from proctor.reports.content.cost_text import money_of
from proctor.reports.content.public_text import place_of
from proctor.reports.content.run_digest import Digest, Foremost
from proctor.reports.content.summary import (
    config_sources,
    duration,
    fault_texts,
    left_out,
    rate,
    sentence,
    set_names,
)
from proctor.reports.content.symbols import UNICODE, WORDS
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

ROOM = 60_000
"""Characters of a whole report."""
MOST = 50
"""Cases that are named of one run."""
MOST_RUNS = 20
_LONGEST_NAME = 120
_LONGEST_REASON = 400
_LONGEST_EVIDENCE = 4_000


class MarkdownReport:
    """The verdict, figures with their uncertainty, a table of what did not pass, and its evidence folded away."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, each within its share of the room."""
        encoding = getattr(out, "encoding", None)
        if options.note:
            out.write(
                _encodable(
                    f"<h3>{UNICODE.rest} nothing was run</h3>\n\n<p>{_text(options.note)}</p>\n\n", encoding
                )
            )
        shown = runs[:MOST_RUNS]
        for run in shown:
            out.writelines(_encodable(part, encoding) for part in _Section(run, ROOM // len(shown)).parts())
        if left := Counter(WORDS[run.outcome] for run in runs[MOST_RUNS:]):
            counts = ", ".join(f"{count} {word}" for word, count in left.items())
            out.write(f"and {left.total()} more agents: {counts}\n")


class _Section:
    """The section about one run."""

    def __init__(self, run: RunResult, room: int) -> None:
        self._run = run
        self._room = room
        self._digest, self._foremost = Digest(), Foremost(MOST)
        for case in run.cases:
            self._digest.add(case)
            self._foremost.add(case)

    def parts(self) -> Iterator[str]:
        """Return the parts in order; the table takes at most half of the room, the evidence what is left of it."""
        head, red, broken = self._head(), list(self._foremost.problem_cases()), list(self._broken())
        rows = _fitting([*broken, *map(_row, red)], self._room // 2 - len(head))
        if more := self._foremost.missed + len(broken) - len(rows):
            rows.append(f"<tr><td></td><td>… and {more:,} more that did not pass</td><td></td></tr>")
        table = "\n".join(["<table>", *rows, "</table>", "", ""]) if rows else ""
        yield head + table
        shown = [case for case in red[: len(rows)] if case.outcome is not Outcome.NOT_RUN]
        details = _fitting(list(self._details()), self._room // 4)
        left = self._room - len(head) - len(table) - sum(map(len, details))
        yield from _fitting([_evidence(case) for case in shown], left)
        yield from details

    def _head(self) -> str:
        run, digest = self._run, self._digest
        sign = UNICODE.outcomes.get(run.outcome, "!")
        verdict = sentence(run, flaky=digest.repeats.flaky)
        verdict = (
            _code(verdict) if run.stopped_by else _text(verdict)
        )  # `stopped_by` may be text from elsewhere
        facts = [f"agent {_code(run.agent)}", f"{len(run.cases):,} case{'s' * (len(run.cases) != 1)}"]
        if run.num_runs > 1:
            added = added_text(run, digest.repeats.trials)
            facts.append(f"until decided: {added}" if added else f"{run.num_runs} trials each")
        facts += [_text(rate(run, UNICODE))] if rate(run, UNICODE) else []
        facts += [_text(text) for text in fault_texts(digest.whose_fault, UNICODE)]
        facts += [duration(run.duration)] if run.duration else []
        facts += [_text(text) for text in money_of(run)]
        facts += [f"run {_code(run.run_id)}"] if run.run_id else []
        return f"<h3>{sign} {verdict}</h3>\n\n<p>{' · '.join(facts)}</p>\n\n"

    def _broken(self) -> Iterator[str]:
        """Return the sets that could not be run, and the failure of the run."""
        for name, one in zip(set_names(self._run.sets), self._run.sets, strict=True):
            if one.failure is not None:
                yield _cells("! set", name, public_text.cause(one.failure))
        if self._run.failure is not None:
            yield _cells("! run", self._run.agent, public_text.cause(self._run.failure))

    def _details(self) -> Iterator[str]:
        flaky = [f"{_name(case)}: {rate_sentence(case, UNICODE)}" for case in self._foremost.flaky()]
        if flaky:
            yield _details_block(f"{self._digest.repeats.flaky} flaky", flaky)
        if warnings := self._digest.warnings(self._run):
            texts = [public_text.hidden(warning) for warning in warnings]
            yield _details_block(f"{len(texts)} warning{'s' * (len(texts) > 1)}", texts)
        yield _details_block("Metrics and sets", [*self._metrics(), *self._sets()])

    def _metrics(self) -> Iterator[str]:
        """Each metric's mean over all trials, with its standard error."""
        for name, mean in means_of(self._digest.repeats, self._digest.gating).items():
            yield f"{name}: mean {mean_text(mean, UNICODE)}"

    def _sets(self) -> Iterator[str]:
        for name, one in zip(set_names(self._run.sets), self._run.sets, strict=True):
            yield f"{name}: {one.cases:,} cases"
        for source in config_sources(self._run.sets):
            yield f"criteria: {source}"
        for name, why in left_out(self._run).items():
            yield f"left out: {name} ({why})"
        if took := self._digest.figures():
            yield ", ".join(took)


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
    trials = f" ({rate_sentence(case, UNICODE)})" if is_repeated(case) else ""
    reason = public_text.reason(case)
    sign = f"{UNICODE.outcomes.get(case.outcome, UNICODE.rest)} {WORDS[case.outcome]}"
    return _cells(sign, _name(case), _shorten(reason, _LONGEST_REASON) + trials)


def _cells(sign: str, name: str, why: str) -> str:
    return f"<tr><td>{sign}</td><td>{_code(name)}</td><td>{_code(why, _LONGEST_REASON * 2)}</td></tr>"


def _evidence(case: CaseResult) -> str:
    file, line = place_of(case.place)
    place = f"{file}:{line}" if line else file
    lines = [*([place] if place else []), public_text.reason(case), *public_text.lines(case)]
    return _details_block(f"{UNICODE.outcomes.get(case.outcome, UNICODE.rest)} {_code(_name(case))}", lines)


def _details_block(summary: str, lines: Sequence[str]) -> str:
    """Return lines behind a summary (HTML already) that unfolds them."""
    text, left = [], _LONGEST_EVIDENCE
    for line in lines:
        shown = _text(_shorten(line, left))
        left -= len(line)
        text += [shown] if shown.strip() else []  # an empty line would end the block
        if left <= 0:
            break
    return "\n".join(
        ["<details>", f"<summary>{summary}</summary>", "<pre>", *text, "</pre>", "</details>", "", ""]
    )


def _name(case: CaseResult) -> str:
    return f"{_shorten(case.eval_set_id, _LONGEST_NAME)}/{_shorten(case.eval_id, _LONGEST_NAME)}"


def _code(text: str, longest: int = 2 * _LONGEST_NAME) -> str:
    return f"<code>{_text(_shorten(text, longest))}</code>"


def _text(text: str) -> str:
    """Return text as HTML, on one line."""
    return html.escape(clean(text))


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: max(longest - 1, 0)] + "…"


def _encodable(text: str, encoding: str | None) -> str:
    """Return `text` with what `encoding` cannot write as HTML writes it."""
    return text.encode(encoding or "utf-8", "xmlcharrefreplace").decode(encoding or "utf-8")
