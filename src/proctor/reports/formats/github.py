"""A run as annotations of GitHub Actions: each points at the line of its case in the eval-set file (docs/reference/results/reports.md).

They are lines on stdout that the runner obeys: `::error file=…,line=…,title=…::text`. A step shows ten errors, ten
warnings and ten notices, so that the worst come first and the rest is one line. Text from elsewhere is inside of
them only, with everything escaped that could end a line or a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean, cut_text, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_digest import (
    Digest,
    WorstCases,
    rate_sentence,
)
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.public_text import file_and_line, file_of
from proctor.reports.content.summary import rate, verdict_sentence
from proctor.reports.content.symbols import UNICODE
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.results.run_result import CaseResult, RunResult

MOST = 10
"""Annotations of one level that a step shows."""
LONGEST = 4_000
"""Characters of one annotation's text."""
_LONGEST_TITLE = 200


class GithubReport:
    """An error for each case that did not pass (of many the worst), the warnings, one for each flaky case, the verdict as notice."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, an annotation a line."""
        encoding = getattr(out, "encoding", None)
        if options.note:
            out.write(
                encodable(annotation("notice", "Proctor: nothing was run", [options.note]), encoding) + "\n"
            )
        for run in runs:
            out.writelines(encodable(line, encoding) + "\n" for line in _annotations(run))


def _annotations(run: RunResult) -> Iterator[str]:
    digest, worst_cases = Digest(), WorstCases(MOST)
    for case in run.cases:
        digest.add(case)
        worst_cases.add(case)
    verdict = verdict_sentence(run, flaky=digest.repeats.flaky)
    share = rate(run, UNICODE)
    yield annotation("notice", f"Proctor: {run.agent}", [verdict, *([share] if share else [])])
    problems = [*map(_message, worst_cases.problem_cases())]
    errors = [*_broken(run), *problems]
    if not errors and not run.passed:
        errors = [annotation("error", f"Proctor: {run.agent}", [verdict])]
    yield from _first(errors, worst_cases.missed - len(problems), "error", "did not pass")
    warnings = [_warning(run, text) for text in digest.warnings(run)]
    flaky = [*map(_flaky, worst_cases.flaky())]
    yield from _first([*warnings, *flaky], worst_cases.unstable - len(flaky), "warning", "warnings")


def _first(annotations: Sequence[str], left: int, level: str, what: str) -> Iterator[str]:
    """Yield as many annotations as a step shows; the last one counts the others, and the `left` ones that are not here."""
    total = len(annotations) + left
    shown = annotations if total <= MOST else annotations[: MOST - 1]
    yield from shown
    if more := total - len(shown):
        yield annotation(level, "Proctor", [f"{more} more {what}"])


def _warning(run: RunResult, text: str) -> str:
    return annotation("warning", f"Proctor: {run.agent}", [public_text.hidden(text)])


def _flaky(case: CaseResult) -> str:
    text = [rate_sentence(case, UNICODE), *([public_text.hidden(case.missed)] if case.missed else [])]
    return annotation(
        "warning", f"{FLAKY}: {case.eval_set_id}/{case.eval_id}", text, *file_and_line(case.place)
    )


def _broken(run: RunResult) -> Iterator[str]:
    """Sets that could not be run, and why the run could not continue."""
    for one in run.sets:
        if one.failure is not None:
            file = file_of(one.path) if one.path else ""
            title = f"error: {one.eval_set_id} could not be run"
            yield annotation("error", title, [public_text.cause(one.failure)], file, None)
    if run.failure is not None:
        title = "nothing was run" if run.failure.where == CONFIGURATION else f"{run.agent} could not continue"
        yield annotation("error", f"Proctor: {title}", [public_text.cause(run.failure)])


def _message(case: CaseResult) -> str:
    text = [public_text.reason(case), *public_text.lines(case)]
    title = f"{WORDS[case.outcome]}: {case.eval_set_id}/{case.eval_id}"
    return annotation("error", title, text, *file_and_line(case.place))


def annotation(level: str, title: str, text: Sequence[str], file: str = "", line: int | None = None) -> str:
    """Return one workflow command."""
    fields = {
        "file": file,
        "line": str(line) if line and file else "",
        "title": cut_text(title, _LONGEST_TITLE),
    }
    properties = ",".join(f"{name}={_property(value)}" for name, value in fields.items() if value)
    lines = "\n".join(clean(cut_text(each, LONGEST)) for each in text)
    return f"::{level} {properties}::{_data(cut_text(lines, LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(clean(text)).replace(":", "%3A").replace(",", "%2C")
