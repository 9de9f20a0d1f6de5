"""Everything that is wrong or doubtful in a file, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_snake

from proctor.errors import EvalFileError
from proctor.files.eval_sets import load
from proctor.files.eval_sets.adk_warnings import only_read_here, time_only_read_here
from proctor.files.eval_sets.case_reader import read_case
from proctor.files.eval_sets.detect_format import SETS, Kind, kind
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    RESULT_LIMIT,
    WHOLE_LIMIT,
    YAML_SUFFIXES,
    Document,
    problems_at,
    read_document,
    unreadable,
)
from proctor.files.eval_sets.json_lines import starts_like_lines
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile, open_document, open_eval_set
from proctor.files.eval_sets.strictness import refused_in, warnings_of
from proctor.files.eval_sets.whole_documents import not_a
from proctor.files.keys.unknown_keys import OPEN_IN_ADK, UNKNOWN_KEY, unknown_in
from proctor.files.text.duplicate_keys import doubled_in_document
from proctor.files.text.json_stream import FileBytes, no_collection
from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.text.validation_messages import Finding, resolve
from proctor.schema.format.result import EvalCaseResult, EvalSetResult
from proctor.schema.format.wire_model import WireModel, to_camel, unknown_keys

_SAID = 100  # warnings of one sort

NO_CASES = "no cases"
"""Of a set: an error where it is to run, and a warning where it is still being written."""
_OPEN_IN_RESULTS = (*OPEN_IN_ADK, EvalSetResult, EvalCaseResult)


@dataclass(slots=True)
class Report:
    """What there is to say about one file."""

    file: str
    kind: str
    cases: int = 0
    """Cases of a set, of a result, or scenarios."""
    problems: list[Problem] = field(default_factory=list)
    content: EvalSetFile | Document | None = None
    """The file, where it is a set or a config that can be read: what it means can be asked then."""

    @property
    def readable(self) -> bool:
        """Whether the file is what it should be, warnings or not."""
        return self.content is not None or self.usable

    @property
    def usable(self) -> bool:
        """Whether a run can be made of it: no errors."""
        return not any(problem.severity == "error" for problem in self.problems)

    def in_order(self) -> None:
        """Put the problems into the order of the file, each once; what is an error is no warning, too."""
        wrong = {replace(each, severity="warning") for each in self.problems if each.severity == "error"}
        unique = dict.fromkeys(each for each in self.problems if each not in wrong)
        self.problems = sorted(unique, key=lambda problem: (problem.line, problem.column))

    def refuse_warnings(self) -> None:
        """Make every warning an error (`warnings_as_errors`)."""
        self.problems = [replace(problem, severity="error") for problem in self.problems]

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "file": self.file,
            "kind": self.kind,
            "readable": self.readable,
            "usable": self.usable,
            "cases": self.cases,
            "problems": [asdict(problem) for problem in self.problems],
        }


def check_file(
    path: str | Path, *, allow_duplicate_ids: bool = False, allow_unknown_keys: bool = False
) -> Report:
    """Check a file of the format, whatever it is; everything that is wrong is in the report.

    Beside what makes a file unreadable: what a run would refuse (keys that state an expectation and that nothing reads,
    unless `allow_unknown_keys`; keys that stand twice), what ADK would refuse, and what nothing reads.
    """
    path = Path(path)
    report = Report(str(path), str(Kind.UNKNOWN))
    try:
        with no_collection():
            _check(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allow_unknown_keys)
    except EvalFileError as error:
        report.problems += error.problems or [Problem("error", str(path), 1, 1, "", str(error))]
    report.in_order()
    return report


def _check(path: Path, report: Report, *, allow_duplicate_ids: bool, allows: bool) -> None:
    if path.suffix.lower() == LINES_SUFFIX and path.is_file():
        report.kind = str(Kind.CASE_LINES if _named_set(path) or _looks_like_lines(path) else Kind.UNKNOWN)
        _check_streamed(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allows)
        return
    if _is_streamed(path):
        report.kind = str(Kind.EVAL_SET)
        _check_streamed(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allows)
        return
    document = read_document(path, limit=RESULT_LIMIT)
    found = kind(document.value, document.name)
    if found is Kind.UNKNOWN and isinstance(document.value, dict) and _named_config(path):
        found = Kind.CONFIG
    report.kind = str(found)
    if getattr(document, "double_encoded", False) and found is not Kind.RESULT:
        finding = Finding((), "the document is inside a JSON string", "ADK reads only results so")
        report.problems += problems_at(document, [finding], "warning")
    if found in SETS:
        opened = open_document(document, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
        _check_set(opened, report, allows=allows)
        own_keys = _set_keys(document.value) if found is Kind.EVAL_SET else ()
        findings = chain(own_keys, _old_turns(document.value, found))
        report.problems += problems_at(document, islice(findings, _SAID), "warning")
    else:
        _add_doubled(document, report, is_config=found is Kind.CONFIG)
        _CHECKS.get(found, _check_unknown)(document, report)
        if allows:
            report.problems = [_accepted(problem) for problem in report.problems]


def _accepted(problem: Problem) -> Problem:
    """A problem where unknown keys are accepted."""
    return replace(problem, severity="warning") if problem.message in UNKNOWN_KEY else problem


def _add_doubled(document: Document, report: Report, *, is_config: bool) -> None:
    """Add keys that stand twice: an error in a config, where one of the two would silently not judge."""
    found = doubled_in_document(document, is_config=is_config)
    report.problems += [replace(each, severity="error") for each in found.of_format if is_config]
    report.problems += [*([] if is_config else found.of_format), *found.of_free_maps]


def _check_streamed(path: Path, report: Report, *, allow_duplicate_ids: bool, allows: bool) -> None:
    """A set that is streamed: what it is made of is looked at case by case."""
    opened = open_eval_set(path, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
    _check_set(opened, report, allows=allows)
    report.problems += opened.header_problems(_set_keys)


def _is_streamed(path: Path) -> bool:
    """Whether a file is too large for anything but a set; results may be larger, and tell so at once."""
    if path.suffix.lower() in YAML_SUFFIXES or not path.is_file() or path.stat().st_size <= WHOLE_LIMIT:
        return False
    with path.open("rb") as file:
        return b"eval_set_result_id" not in file.read(4096) or path.stat().st_size > RESULT_LIMIT


def _named_set(path: Path) -> bool:
    return path.name.lower().endswith(SET_SUFFIXES)


def _looks_like_lines(path: Path) -> bool:
    try:
        return starts_like_lines(FileBytes(path, path.name))
    except OSError as error:
        raise unreadable(path, str(path), error) from None


def _named_config(path: Path) -> bool:
    return path.name in CONFIG_NAMES or "config" in path.stem.lower()


# --- sets --------------------------------------------------------------------------------------------------------------


def _check_set(opened: EvalSetFile, report: Report, *, allows: bool) -> None:
    report.kind, report.cases, report.content = str(opened.kind), len(opened), opened
    report.problems += refused_in(opened, allow_unknown_keys=allows)
    report.problems += warnings_of(opened, allow_unknown_keys=allows)
    if not len(opened):
        place = Problem("warning", report.file, 1, 1, "", NO_CASES, "a run of this set is refused")
        report.problems.append(place)
    if opened.kind in {Kind.OLD_TURNS, Kind.OLD_CASES}:
        return
    is_json = Path(report.file).suffix.lower() not in {LINES_SUFFIX, *YAML_SUFFIXES}
    if is_json:  # ADK may read the file as it is, too
        report.problems += opened.problems(list(_found(opened)))


def _found(opened: EvalSetFile) -> Iterator[tuple[int, list[Finding]]]:
    """What ADK reads otherwise in cases, up to a limit."""
    left = _SAID
    for index in range(len(opened)):
        findings = list(islice(_case_findings(opened.value(index)), left + 1))
        if len(findings) > left:
            more = "this case and maybe others have further warnings of this sort; they are not listed"
            yield index, [*findings[:left], Finding((), more)]
            return
        if findings:
            yield index, findings
        left -= len(findings)


def _case_findings(value: Any) -> Iterator[Finding]:
    case, note = read_case(value)
    if not note:
        yield from only_read_here(case, value)


_SET_KEYS = ("eval_set_id", "name", "description", "eval_cases", "creation_timestamp")


_TURN_KEYS = ("query", "reference", "expected_tool_use", "expected_intermediate_agent_responses")


def _old_turns(value: Any, found: Kind) -> Iterator[Finding]:
    """Doubts about the turns of an old format, in which ADK drops every key that it does not know."""
    cases: list[tuple[Path_, Any]] = [((), value)] if found is Kind.OLD_TURNS else []
    if found is Kind.OLD_CASES:
        cases = [((index, "data"), case["data"]) for index, case in enumerate(value)]
    for base, turns in cases:
        for index, turn in enumerate(turns):
            yield from _old_turn(turn, (*base, index))
            missing = [
                key for key in ("expected_tool_use", "reference") if not {key, to_camel(key)} & turn.keys()
            ]
            if missing and found is Kind.OLD_TURNS and index == 0:
                listed = " and ".join(f"`{key}`" for key in missing)
                yield Finding(
                    (index,), f"no {listed}: ADK's default metrics refuse this file", "here it is not stated"
                )


def _old_turn(turn: dict[str, Any], path: Path_) -> Iterator[Finding]:
    for key in turn:
        if key in _TURN_KEYS or key.startswith("_"):
            continue
        if to_snake(key) in _TURN_KEYS and to_camel(to_snake(key)) == key:
            yield Finding((*path, key), f"ADK reads only `{to_snake(key)}` here", at_key=True)
            continue


def _set_keys(value: dict[str, Any]) -> Iterator[Finding]:
    """Keys of the set itself: ADK reads them in snake_case only, and drops those it does not know."""
    for key in value:
        if key in _SET_KEYS:
            continue
        if (name := to_snake(key)) in _SET_KEYS:
            does = "drops this" if name == "creation_timestamp" else "refuses this file"
            yield Finding((key,), f"ADK reads only `{name}` here and {does}", at_key=True)
        elif key == "id" and not {"eval_set_id", "evalSetId"} & value.keys():
            yield Finding((key,), "read as `eval_set_id`; ADK refuses this file", at_key=True)
    if (made := "creation_timestamp") in value:
        yield from time_only_read_here(value[made], (made,))


# --- the other kinds ---------------------------------------------------------------------------------------------------


def _check_config(document: Document, report: Report) -> None:
    report.problems += load.read_config(document)[1]
    report.content = document


def _check_scenarios(document: Document, report: Report) -> None:
    scenarios = load.read_scenarios(document)
    report.cases = len(scenarios.scenarios)
    report.problems += [
        *document.warnings,
        *_doubts(document, scenarios),
    ]
    if not report.cases:
        report.problems += problems_at(document, [Finding((), "no scenarios")], "warning")


def _doubts(document: Document, model: WireModel) -> list[Problem]:
    found = [*islice(chain(unknown_in(model, document.value), only_read_here(model, document.value)), _SAID)]
    return [
        *problems_at(document, [one for one in found if one.is_misread], "error"),
        *problems_at(document, [one for one in found if not one.is_misread], "warning"),
    ]


def _check_session_input(document: Document, report: Report) -> None:
    session = load.read_session_input(document)
    report.problems += [
        *document.warnings,
        *_doubts(document, session),
    ]


def _check_results(document: Document, report: Report) -> None:
    """Results are written by programs; older ones have keys that newer ADK refuses, so one warning is enough."""
    result = load.read_results(document)
    report.cases = len(result.eval_case_results)
    report.problems += document.warnings
    strange = next(
        (path for path, owner in unknown_keys(result) if not isinstance(owner, _OPEN_IN_RESULTS)), None
    )
    if strange:
        path, _ = resolve(strange, document.value)
        message = f"unknown key `{path[-1]}`; ADK refuses this file"
        finding = Finding(path, message, "an older ADK wrote it; Proctor keeps the key", at_key=True)
        report.problems += problems_at(document, [finding], "warning")


def _check_unknown(document: Document, _report: Report) -> None:
    raise file_error(
        [*document.warnings, *not_a(document, "an eval set, a config or a result", Kind.UNKNOWN)]
    )


_CHECKS: dict[Kind, Callable[[Document, Report], None]] = {
    Kind.CONFIG: _check_config,
    Kind.SCENARIOS: _check_scenarios,
    Kind.SESSION_INPUT: _check_session_input,
    Kind.RESULT: _check_results,
}
