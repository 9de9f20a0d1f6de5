"""Report all errors and warnings of a file, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.errors import EvalFileError
from proctor.files.eval_sets import load
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    RESULT_LIMIT,
    SETS,
    WHOLE_LIMIT,
    YAML_SUFFIXES,
    Document,
    DocumentKind,
    kind,
    not_a,
    problems_at,
    read_document,
    unreadable,
)
from proctor.files.eval_sets.eval_set_file import EvalSetFile, read_case
from proctor.files.eval_sets.json_lines import starts_like_lines
from proctor.files.eval_sets.old_formats import OLD_KINDS, old_objects
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.files.eval_sets.source import open_document, open_eval_set
from proctor.files.keys.key_findings import OPEN_IN_ADK, UNKNOWN_KEY, duplicate_keys_in_document, unknown_in
from proctor.files.keys.unknown_key_meaning import FormatObject
from proctor.files.text.json_stream import FileBytes, no_collection
from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.text.validation_messages import DocumentFinding, resolve
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.legacy import TURN_KEYS
from proctor.schema.format.persona import UserBehavior, UserPersona
from proctor.schema.format.result import EvalCaseResult, EvalSetResult
from proctor.schema.format.wire_model import WireModel, to_camel, unknown_keys

_MAX_WARNINGS = 100  # of one kind

NO_CASES = "no cases"
"""A set without cases: an error in a run, and a warning while the set is being written."""
_OPEN_IN_RESULTS = (*OPEN_IN_ADK, EvalSetResult, EvalCaseResult)


@dataclass(slots=True)
class FileCheck:
    """The check of one file."""

    file: str
    kind: str
    cases: int = 0
    """The number of cases of a set or a result, or of scenarios."""
    problems: list[Problem] = field(default_factory=list)
    content: EvalSetFile | Document | None = None
    """The file, if it is a readable set or config: later checks use it."""

    @property
    def readable(self) -> bool:
        """Whether the file can be read, with or without warnings."""
        return self.content is not None or self.usable

    @property
    def usable(self) -> bool:
        """Whether a run can use the file: it has no errors."""
        return not any(problem.severity == "error" for problem in self.problems)

    def sort_problems(self) -> None:
        """Sort the problems by position and remove duplicates; an error replaces the same warning."""
        as_warnings = {
            replace(each, severity="warning") for each in self.problems if each.severity == "error"
        }
        unique = dict.fromkeys(each for each in self.problems if each not in as_warnings)
        self.problems = sorted(unique, key=lambda problem: (problem.line, problem.column))

    def refuse_warnings(self) -> None:
        """Make every warning an error (`warnings_as_errors`)."""
        self.problems = [replace(problem, severity="error") for problem in self.problems]

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON data."""
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
) -> FileCheck:
    """Check a file of the format of any kind; the report contains all problems.

    Besides errors of reading, the report contains what a run refuses (unknown keys that state an expectation, unless
    `allow_unknown_keys`; duplicate keys), what ADK refuses, and unknown keys.
    """
    path = Path(path)
    report = FileCheck(str(path), str(DocumentKind.UNKNOWN))
    try:
        with no_collection():
            _check(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allow_unknown_keys)
    except EvalFileError as error:
        report.problems += error.problems or [Problem("error", str(path), 1, 1, "", str(error))]
    report.sort_problems()
    return report


def _check(path: Path, report: FileCheck, *, allow_duplicate_ids: bool, allows: bool) -> None:
    if path.suffix.lower() == LINES_SUFFIX and path.is_file():
        is_set = path.name.lower().endswith(SET_SUFFIXES) or _looks_like_lines(path)
        report.kind = str(DocumentKind.CASE_LINES if is_set else DocumentKind.UNKNOWN)
        _check_set_file(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allows)
    elif _must_be_set(path):
        report.kind = str(DocumentKind.EVAL_SET)
        _check_set_file(path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allows)
    else:
        document = read_document(path, limit=RESULT_LIMIT)
        _check_document(document, path, report, allow_duplicate_ids=allow_duplicate_ids, allows=allows)


def _check_document(
    document: Document, path: Path, report: FileCheck, *, allow_duplicate_ids: bool, allows: bool
) -> None:
    document_kind = kind(document.value, document.name)
    is_named_config = path.name in CONFIG_NAMES or "config" in path.stem.lower()
    if document_kind is DocumentKind.UNKNOWN and isinstance(document.value, dict) and is_named_config:
        document_kind = DocumentKind.CONFIG
    report.kind = str(document_kind)
    if getattr(document, "double_encoded", False) and document_kind is not DocumentKind.RESULT:
        finding = DocumentFinding(
            (), "the document is inside a JSON string", "ADK reads only results in this form"
        )
        report.problems += problems_at(document, [finding], "warning")
    if document_kind in SETS:
        opened = open_document(document, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
        _check_set(opened, report, allows=allows)
        header_keys = _header_key_findings(document.value) if document_kind is DocumentKind.EVAL_SET else ()
        old_keys = _old_turn_findings(document.value, document_kind) if document_kind in OLD_KINDS else ()
        findings = chain(header_keys, old_keys)
        report.problems += problems_at(document, islice(findings, _MAX_WARNINGS), "warning")
    else:
        _add_duplicate_keys(document, report, is_config=document_kind is DocumentKind.CONFIG)
        _CHECKS.get(document_kind, _check_unknown)(document, report)
        if allows:
            report.problems = [_as_warning(problem) for problem in report.problems]


def _as_warning(problem: Problem) -> Problem:
    """Make the error of an unknown key a warning."""
    return replace(problem, severity="warning") if problem.message in UNKNOWN_KEY else problem


def _add_duplicate_keys(document: Document, report: FileCheck, *, is_config: bool) -> None:
    """Add duplicate keys: an error in a config, where one of the two would silently have no effect."""
    duplicates = duplicate_keys_in_document(document, is_config=is_config)
    report.problems += [replace(each, severity="error") for each in duplicates.of_format if is_config]
    report.problems += [*([] if is_config else duplicates.of_format), *duplicates.of_free_maps]


def _check_set_file(path: Path, report: FileCheck, *, allow_duplicate_ids: bool, allows: bool) -> None:
    """Check a set that stays in its file, case by case."""
    opened = open_eval_set(path, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
    _check_set(opened, report, allows=allows)
    report.problems += opened.header_problems(_header_key_findings)


def _must_be_set(path: Path) -> bool:
    """Whether a file is too large for anything but a set. Results may be larger, and start with their id."""
    if path.suffix.lower() in YAML_SUFFIXES or not path.is_file() or path.stat().st_size <= WHOLE_LIMIT:
        return False
    with path.open("rb") as file:
        return b"eval_set_result_id" not in file.read(4096) or path.stat().st_size > RESULT_LIMIT


def _looks_like_lines(path: Path) -> bool:
    try:
        return starts_like_lines(FileBytes(path, path.name))
    except OSError as error:
        raise unreadable(path, str(path), error) from None


# --- sets --------------------------------------------------------------------------------------------------------------


def _check_set(opened: EvalSetFile, report: FileCheck, *, allows: bool) -> None:
    report.kind, report.cases, report.content = str(opened.kind), len(opened), opened
    for problems in opened.split_warnings(allow_unknown_keys=allows):
        report.problems += problems
    if not len(opened):
        report.problems.append(
            Problem("warning", report.file, 1, 1, "", NO_CASES, "a run of this set is refused")
        )
    if opened.kind in OLD_KINDS:
        return
    is_json = Path(report.file).suffix.lower() not in {LINES_SUFFIX, *YAML_SUFFIXES}
    if is_json:  # ADK may read this file, too
        report.problems += opened.problems(list(_adk_findings(opened)))


def _adk_findings(opened: EvalSetFile) -> Iterator[tuple[int, list[DocumentFinding]]]:
    """Report what ADK refuses in the cases of a set, up to a limit."""
    left = _MAX_WARNINGS
    for index in range(len(opened)):
        findings = list(islice(_case_findings(opened.value(index)), left + 1))
        if len(findings) > left:
            more = "further warnings of this kind about this case and later ones are not listed"
            yield index, [*findings[:left], DocumentFinding((), more)]
            return
        if findings:
            yield index, findings
        left -= len(findings)


def _case_findings(value: object) -> Iterator[DocumentFinding]:
    case, note = read_case(value)
    if not note:
        yield from adk_refusals(case, value)


_SET_KEYS = ("eval_set_id", "name", "description", "eval_cases", "creation_timestamp")


def _old_turn_findings(value: Any, document_kind: DocumentKind) -> Iterator[DocumentFinding]:
    """Report keys of old turns that ADK drops: it reads only snake_case; and expectations that its default metrics need."""
    for path, turn, place in old_objects(value, document_kind):
        if place is FormatObject.OLD_TURN:
            for key in turn:
                if (name := to_snake(key)) in TURN_KEYS and key == to_camel(name) != name:
                    yield DocumentFinding((*path, key), f"ADK reads only `{name}` here", at_key=True)
            if path == (0,):
                yield from _missing_expectations(turn)


def _missing_expectations(first_turn: dict[str, object]) -> Iterator[DocumentFinding]:
    missing = [f"`{key}`" for key in _EXPECTATIONS if first_turn.keys().isdisjoint((key, to_camel(key)))]
    if missing:
        message = f"no {' and '.join(missing)}: ADK's default metrics refuse this file"
        yield DocumentFinding((0,), message, "Proctor reads it as not stated")


_EXPECTATIONS = ("expected_tool_use", "reference")
"""What ADK's default metrics need, and look for in the first turn of a list of turns."""


def _header_key_findings(value: dict[str, object]) -> Iterator[DocumentFinding]:
    """Report keys of the header: ADK reads only snake_case, and drops unknown keys."""
    for key in value:
        if key in _SET_KEYS:
            continue
        if (name := to_snake(key)) in _SET_KEYS:
            does = "drops this" if name == "creation_timestamp" else "refuses this file"
            yield DocumentFinding((key,), f"ADK reads only `{name}` here and {does}", at_key=True)
        elif key == "id" and not {"eval_set_id", "evalSetId"} & value.keys():
            yield DocumentFinding((key,), "read as `eval_set_id`; ADK refuses this file", at_key=True)
    if (created := "creation_timestamp") in value:
        yield from adk_time_refusals(value[created], (created,))


# --- the other kinds ---------------------------------------------------------------------------------------------------


def _check_config(document: Document, report: FileCheck) -> None:
    report.problems += load.read_config(document)[1]
    report.content = document


def _check_scenarios(document: Document, report: FileCheck) -> None:
    scenarios = load.read_scenarios(document)
    report.cases = len(scenarios.scenarios)
    report.problems += [*document.warnings, *_warnings(document, scenarios)]
    if not report.cases:
        report.problems += problems_at(document, [DocumentFinding((), "no scenarios")], "warning")


def _warnings(document: Document, model: WireModel) -> list[Problem]:
    refusals = adk_refusals(model, document.value)
    warnings = [*islice(chain(unknown_in(model, document.value), refusals), _MAX_WARNINGS)]
    return [
        *problems_at(document, [each for each in warnings if each.is_misread], "error"),
        *problems_at(document, [each for each in warnings if not each.is_misread], "warning"),
    ]


def _check_session_input(document: Document, report: FileCheck) -> None:
    session = load.read_session_input(document)
    report.problems += [*document.warnings, *_warnings(document, session)]


def _check_results(document: Document, report: FileCheck) -> None:
    """Check results. Programs write them, and older ones have keys that newer ADK refuses: one warning is enough."""
    result = load.read_results(document)
    report.cases = len(result.eval_case_results)
    report.problems += document.warnings
    unknown = next(
        (path for path, owner in unknown_keys(result) if not isinstance(owner, _OPEN_IN_RESULTS)), None
    )
    if unknown:
        path, _ = resolve(unknown, document.value)
        message = f"unknown key `{path[-1]}`; ADK refuses this file"
        finding = DocumentFinding(path, message, "an older ADK wrote it; Proctor keeps the key", at_key=True)
        report.problems += problems_at(document, [finding], "warning")


def _check_unknown(document: Document, _report: FileCheck) -> None:
    raise file_error(
        [*document.warnings, *not_a(document, "an eval set, a config or a result", DocumentKind.UNKNOWN)]
    )


_CHECKS: dict[DocumentKind, Callable[[Document, FileCheck], None]] = {
    DocumentKind.CONFIG: _check_config,
    DocumentKind.SCENARIOS: _check_scenarios,
    DocumentKind.SESSION_INPUT: _check_session_input,
    DocumentKind.RESULT: _check_results,
}


# --- values that Proctor reads and ADK refuses ------------------------------------------------------------------------


_REFUSED = "ADK refuses this file"
_CALL_WORDS = {
    "tool_name": "name", "toolName": "name", "tool_input": "args", "toolInput": "args", "arguments": "args",
    "function": "name` and `args",
}  # fmt: skip
_NOT_IN_ADK = frozenset({"opening"})  # ADK keeps these keys unread


def adk_refusals(model: BaseModel, value: object, path: Path_ = ()) -> Iterator[DocumentFinding]:
    """Report the values for which ADK refuses `value`, from which `model` was read, except for unknown keys."""
    if not isinstance(value, dict):
        return  # a short form, such as the name of a persona
    yield from _other_keys(model, value, path)
    for name in type(model).model_fields:
        key = name if name in value else to_camel(name)
        if key in value and name not in _NOT_IN_ADK:
            yield from _value_findings(getattr(model, name), value[key], (*path, key))


def adk_time_refusals(value: object, path: Path_) -> Iterator[DocumentFinding]:
    """Report a time for which ADK refuses the file."""
    if value is None:
        yield DocumentFinding(path, f"null is read as not stated; {_REFUSED}", "leave the key out")
    elif isinstance(value, str) and not _is_number(value):
        yield DocumentFinding(path, f"a time as text; {_REFUSED}", "ADK reads seconds since 1970")


def _value_findings(value: object, raw_value: object, path: Path_) -> Iterator[DocumentFinding]:
    if raw_value is None and value is not None:
        yield DocumentFinding(path, f"null is read as not stated; {_REFUSED}", "leave the key out")
    elif isinstance(value, BaseModel):
        yield from adk_refusals(value, raw_value, path)
    elif isinstance(value, IntEnum) and isinstance(raw_value, str):
        yield DocumentFinding(path, f"a status by its name; {_REFUSED}", f"ADK reads {value.value}")
    elif isinstance(value, float):
        yield from adk_time_refusals(raw_value, path)
    elif isinstance(value, list):
        yield from _list_findings(value, raw_value, path)
    elif isinstance(value, tuple):
        yield from _pair_findings(value, raw_value, path)
    elif isinstance(value, dict):
        yield from _dict_findings(value, raw_value, path)


def _list_findings(items: list[object], raw_items: object, path: Path_) -> Iterator[DocumentFinding]:
    pairs = zip(items, raw_items, strict=False) if isinstance(raw_items, list) else ()
    for index, (item, raw_item) in enumerate(pairs):
        yield from _value_findings(item, raw_item, (*path, index))


def _pair_findings(pair: tuple[object, ...], raw_pair: object, path: Path_) -> Iterator[DocumentFinding]:
    if isinstance(raw_pair, dict):
        yield DocumentFinding(path, f"an object; {_REFUSED}", "ADK reads a pair `[author, parts]`")
    elif isinstance(raw_pair, list | tuple) and len(raw_pair) == 2:
        yield from _value_findings(pair[1], raw_pair[1], (*path, 1))


def _dict_findings(value: dict[str, object], raw_value: Any, path: Path_) -> Iterator[DocumentFinding]:
    if isinstance(raw_value, str):
        yield DocumentFinding(path, f"arguments as JSON text; {_REFUSED}", "ADK reads an object")
        return
    for key, item in value.items():
        if isinstance(item, BaseModel):
            yield from adk_refusals(item, raw_value.get(key), (*path, key))


def _other_keys(model: BaseModel, value: dict[str, object], path: Path_) -> Iterator[DocumentFinding]:
    """Report keys that only Proctor accepts for a key of the format."""
    if isinstance(model, EvalCase) and "id" in value and not {"eval_id", "evalId"} & value.keys():
        yield DocumentFinding((*path, "id"), f"read as `eval_id`; {_REFUSED}", at_key=True)
    elif isinstance(model, SessionInput):
        yield from _missing_session_keys(value, path)
    elif isinstance(model, FunctionCall):
        for key in _CALL_WORDS.keys() & value.keys() - (model.model_extra or {}).keys():
            yield DocumentFinding((*path, key), f"read as `{_CALL_WORDS[key]}`; {_REFUSED}", at_key=True)
    elif isinstance(model, UserPersona | UserBehavior):
        yield from _camel_case_keys(model, value, path)


def _missing_session_keys(value: dict[str, object], path: Path_) -> Iterator[DocumentFinding]:
    for name in ("app_name", "user_id"):
        if name not in value and to_camel(name) not in value:
            hint = "Proctor uses its defaults; write the key for ADK"
            yield DocumentFinding(path, f"`{name}` is missing; {_REFUSED}", hint)


def _camel_case_keys(model: BaseModel, value: dict[str, object], path: Path_) -> Iterator[DocumentFinding]:
    """Report keys in camelCase in a model that ADK reads only in snake_case."""
    for key in value:
        name = to_snake(key)
        if name != key and name in type(model).model_fields:
            yield DocumentFinding(
                (*path, key), f"ADK reads only `{name}` here and refuses this file", at_key=True
            )


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False
