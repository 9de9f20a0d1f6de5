"""A run as JUnit XML, for CI servers: a suite for each eval set, a test case for each case (docs/reference/results/reports.md).

Only what passed is green: a case that is undecided or was not reached is an error there, and so are a set that could
not be run and a run in which nothing was scored. Written case by case; a suite, whose head has its counts, waits in a
temporary file.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from tempfile import TemporaryFile
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean, cut_text
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_digest import deciding, warnings_beside
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.public_text import file_and_line, file_of
from proctor.reports.content.summary import verdict_sentence
from proctor.reports.formats.json_text import is_unicode
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

LONGEST_TEXT = 32_000
"""Characters of the evidence of one case."""
LONGEST_NAME = 1_000
"""Characters of a name or a message."""

_RED = {Outcome.FAILED: "failure", Outcome.SKIPPED: "skipped"}
"""The elements of the outcomes; any other outcome that is not a pass is an `error`."""


class JunitReport:
    """One `testsuite` for each eval set, one `testcase` for each case, whose failure text is the evidence."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, a case at a time."""
        target = CharacterReferences(out)
        totals = sum((_counts_of(run) for run in runs), Counter[str]())
        seconds = sum(run.duration for run in runs)
        target.write('<?xml version="1.0" encoding="utf-8"?>\n')
        target.write(f'<testsuites name="proctor"{_count_attributes(totals, seconds)}>\n')
        names = _Names(runs)
        if options.note:
            target.write(f'  <testsuite name="proctor"{_count_attributes(Counter(), 0.0)}>\n')
            target.write(
                f"    <system-out>{content(_shorten(clean(options.note), LONGEST_TEXT))}</system-out>\n  </testsuite>\n"
            )
        for run in runs:
            for eval_set_id, cases in groupby(run.cases, key=lambda case: case.eval_set_id):
                _write_suite(target, run, eval_set_id, _cases(cases, names, run, options))
            for name, file, failure in _broken(run):
                _write_suite(target, run, name, iter([_broken_case(run, name, file, failure)]))
        target.write("</testsuites>\n")


_Written = tuple[str, str, float]
"""What a test case is (`failure`, `error`, `skipped`, or nothing), its XML, and its seconds."""


def _write_suite(out: CharacterReferences, run: RunResult, name: str, cases: Iterator[_Written]) -> None:
    counts: Counter[str] = Counter()
    seconds = 0.0
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as waiting:
        for what, text, took in cases:
            counts.update(["tests", what])
            seconds += took
            waiting.write(text)
        head = f" name={attribute(_shorten(_class_name(run, name)))}{_count_attributes(counts, seconds)}"
        out.write(f'  <testsuite{head} timestamp="{_moment(run.started_at)}">\n')
        out.write(_properties({"agent": run.agent, "run": run.run_id}, "    "))
        waiting.seek(0)
        shutil.copyfileobj(waiting, out)
    out.write("  </testsuite>\n")


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):  # an imported file may have any number here
        return _moment(0)


# --- counts --------------------------------------------------------------------------------------------------------------


def _counts_of(run: RunResult) -> Counter[str]:
    """Count the test cases of a run by what they are."""
    counts: Counter[str] = Counter()
    for outcome, count in run.counts.items():
        counts[_element(outcome)] += count
        counts["tests"] += count
    broken = sum(1 for _ in _broken(run))
    return counts + Counter(tests=broken, error=broken)


def _element(outcome: Outcome) -> str:
    return "" if outcome is Outcome.PASSED else _RED.get(outcome, "error")


def _count_attributes(counts: Counter[str], seconds: float) -> str:
    return (
        f' tests="{counts["tests"]}" failures="{counts["failure"]}" errors="{counts["error"]}"'
        f' skipped="{counts["skipped"]}" time="{seconds:.3f}"'
    )


def _broken(run: RunResult) -> Iterator[tuple[str, str, Failure]]:
    """Return the failures that belong to no case, each with a name and a file, so that no failed run is all green."""
    for one in run.sets:
        if one.failure is not None:
            yield one.eval_set_id, file_of(one.path) if one.path else "", one.failure
    if run.failure is not None:
        yield "run", "", run.failure
    red = run.counts.keys() - {Outcome.PASSED, Outcome.SKIPPED}
    if not run.passed and not red and run.failure is None and not run.unread_sets:
        yield "run", "", Failure(where="run", message=verdict_sentence(run))


# --- one case ------------------------------------------------------------------------------------------------------------


class _Names:
    """Names of test cases, no two alike: a server that sees two of one name keeps one of them."""

    def __init__(self, runs: Sequence[RunResult]) -> None:
        suites = [(run.agent, one.eval_set_id) for run in runs for one in run.sets]
        self._twins = len(set(suites)) < len(suites)  # else ids are unique, and none needs to be remembered
        self._seen: Counter[int] = Counter()

    def of(self, suite: str, eval_id: str) -> str:
        """Return the name of a case: its id, with ` #2` behind it where the name was taken."""
        name = _shorten(clean(eval_id))
        if not self._twins and "\\" not in name and not name.endswith("…"):
            return name
        key = hash((suite, name))
        self._seen[key] += 1
        return f"{name} #{self._seen[key]}" if self._seen[key] > 1 else name


def _cases(
    cases: Iterable[CaseResult], names: _Names, run: RunResult, options: ReportOptions
) -> Iterator[_Written]:
    for case in cases:
        suite = _class_name(run, case.eval_set_id)
        recorded = (trial.trial for trial in case.trials)
        took = sum(trial.duration for trial in recorded if trial)
        file, line = file_and_line(case.place)
        head = _test_case(suite, names.of(suite, case.eval_id), took, file, line)
        body = _properties(_facts(case), "      ") + _verdict(case, options)
        yield _element(case.outcome), f"{head}>\n{body}    </testcase>\n", took


def _class_name(run: RunResult, eval_set_id: str) -> str:
    return f"{run.agent}.{eval_set_id}"


def _test_case(suite: str, name: str, seconds: float, file: str, line: int | None) -> str:
    place = f" file={attribute(file)}" if file else ""
    place += f' line="{line}"' if file and line else ""
    names = f"classname={attribute(_shorten(suite))} name={attribute(name)}"
    return f'    <testcase {names} time="{seconds:.3f}"{place}'


def _verdict(case: CaseResult, options: ReportOptions) -> str:
    """What makes a case red, or what to know of one that passed."""
    if case.passed:
        output = _shorten(
            "\n".join(filter(None, [public_text.hidden(case.missed), *_warnings(case)])), LONGEST_TEXT
        )
        return f"      <system-out>{content(output)}</system-out>\n" if output else ""
    reason = public_text.reason(case)
    element = _element(case.outcome)
    message = f"message={attribute(_shorten(reason))}"
    if element == "skipped":
        return f"      <skipped {message}/>\n"
    lines = [
        f"{WORDS[case.outcome]}: {reason}",
        *_warnings(case),
        *public_text.lines(case, full=options.verbose),
    ]
    text = _shorten("\n".join(clean(_shorten(line, LONGEST_TEXT)) for line in lines), LONGEST_TEXT)
    return (
        f"      <{element} {message} type={attribute(_shorten(_type_of(case)))}>{content(text)}</{element}>\n"
    )


def _warnings(case: CaseResult) -> list[str]:
    return [f"warning: {public_text.hidden(clean(warning))}" for warning in warnings_beside(case)]


def _type_of(case: CaseResult) -> str:
    """What kind of failure it is: the metric that missed, the exception, or the outcome."""
    if case.outcome is Outcome.FAILED:
        return next((metric.name for metric in deciding(case)), "") or case.outcome.value
    raised = (trial.failure.type for trial in case.trials if trial.failure and trial.failure.type)
    return (next(raised, "") if case.outcome is Outcome.ERROR else "") or case.outcome.value


def _facts(case: CaseResult) -> dict[str, str]:
    """Scores, and how the trials came out."""
    facts = {"outcome": case.outcome.value}
    if len(case.trials) > 1:
        facts |= {"trials": str(len(case.trials)), "trials_passed": str(case.trials_passed)}
        facts["flaky"] = str(case.flaky).lower()
    for name, metric in case.metrics.items():
        if metric.score is not None or metric.gate:
            facts[name] = metric.outcome.value if metric.score is None else f"{metric.score:.6g}"
        if metric.threshold is not None:
            facts[f"{name} threshold"] = f"{metric.threshold:g}"
    return facts


def _properties(facts: dict[str, str], indent: str) -> str:
    lines = [
        f"{indent}  <property name={attribute(_shorten(name))} value={attribute(_shorten(value))}/>\n"
        for name, value in facts.items()
        if value
    ]
    return "".join([f"{indent}<properties>\n", *lines, f"{indent}</properties>\n"]) if lines else ""


def _broken_case(run: RunResult, name: str, file: str, failure: Failure) -> _Written:
    head = _test_case(_class_name(run, name), "could not be run", 0.0, file, None)
    kind = attribute(_shorten(failure.type or failure.kind.value))
    cause = public_text.cause(failure)
    text = content(_shorten(cause, LONGEST_TEXT))
    error = f"<error message={attribute(_shorten(cause))} type={kind}>{text}</error>"
    return "error", f"{head}>\n      {error}\n    </testcase>\n", 0.0


def _shorten(text: str, longest: int = LONGEST_NAME) -> str:
    return cut_text(text, longest)


# --- Text in XML: characters that XML 1.0 cannot hold and terminal controls become visible escapes -------------------


_FORBIDDEN = re.compile("[\ufffe\uffff]")  # of what XML refuses, all else is cleaned already
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_SPECIAL = re.compile('[&<>"]')


def attribute(text: str) -> str:
    """Return `text` as the value of an attribute, quotes around it; on one line."""
    return f'"{_escape(clean(text))}"'


def content(text: str) -> str:
    """Return `text` as the content of an element; newlines and tabs stay."""
    return _escape(clean(text, lines=True))


def _escape(text: str) -> str:
    text = _FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _SPECIAL.sub(lambda match: _MARKUP[match[0]], text)


class CharacterReferences:
    """A stream of XML that writes to another: what that one's encoding may not hold becomes `&#…;`."""

    def __init__(self, out: TextIO) -> None:
        """Set the stream; UTF-8 text is written to it unchanged."""
        self._out = out
        self._is_unicode = is_unicode(out)

    def write(self, text: str) -> int:
        """Write `text`."""
        if not self._is_unicode:
            text = text.encode("ascii", "xmlcharrefreplace").decode("ascii")
        return self._out.write(text)
