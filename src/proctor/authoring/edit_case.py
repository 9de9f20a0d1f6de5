"""Change the cases of a set one at a time, with several editors at once: no change and no part of the file is lost.

Every case has a version: a hash of its content. A change names the version that was read; if the file has another version
by then, nothing is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from proctor.authoring.check_files import assertion_findings, options_of_project
from proctor.authoring.eval_set_files import ListedFile
from proctor.engine.planning.case_checks import cannot_run, case_problems, checks_of
from proctor.errors import EvalFileError, SetupError, UnknownNameError, did_you_mean
from proctor.files.edit import add_remove_cases
from proctor.files.edit.case import EditedText, read_edited_case, with_case
from proctor.files.edit.editable_file import lock_folder, require_editable, text_of_file
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.save import write_text
from proctor.files.eval_sets.selectors import require_new_case_id
from proctor.files.eval_sets.source import open_eval_set
from proctor.files.text.json_decode import parse
from proctor.files.text.validation_messages import DocumentFinding, locate_message
from proctor.schema.format.case import EvalCase


class UnknownCaseError(UnknownNameError):
    """The set has no such case, or no longer."""


class ChangedMeanwhileError(SetupError):
    """The file was changed since it was read; nothing was written."""

    def __init__(self, message: str, theirs: object, version: str) -> None:
        self.theirs, self.version = theirs, version
        super().__init__(message)


class NotACaseError(SetupError):
    """The value is not a valid case; `findings` has the problems, each with its path."""

    def __init__(self, findings: list[DocumentFinding], what: str = "this is not a case") -> None:
        self.findings = findings
        super().__init__(f"{what}: " + "; ".join(one.one_line for one in findings[:5]))


class CommentsWouldGoError(SetupError):
    """The replaced text contains comments; `lost` has them, each as `LINE: COMMENT`."""

    def __init__(self, lost: list[str]) -> None:
        self.lost = lost
        many = f"{len(lost)} comments are" if len(lost) > 1 else "a comment is"
        super().__init__(
            f"{many} in what would be replaced, and would be lost ({'; '.join(lost[:3])}); nothing was written. "
            "Allow its removal, or make the change in the file"
        )


@dataclass(slots=True)
class CaseContent:
    """One case as its file has it."""

    eval_id: str
    value: Any
    """As plain data, in the file's own spelling; of YAML and of old formats in the words of the format."""
    version: str
    position: int
    line: int
    warnings: list[DocumentFinding] = field(default_factory=list)
    """Its warnings, by path."""


@dataclass(slots=True)
class EditPreview:
    """What a change would come to."""

    before: str
    after: str
    """The file's text before and after the change."""
    lost: list[str]
    warnings: list[DocumentFinding]


def read_set(file: ListedFile) -> EvalSetFile:
    """Read a set, valid or not.

    Raises:
        EvalFileError: it cannot be read, with every problem; or it is not opened at all.
    """
    if file.fault:
        raise EvalFileError(f"{file.label}: {file.fault}")
    return open_eval_set(file.path, label=file.label, allow_empty=True, allow_duplicate_ids=True)


def version_of(value: object) -> str:
    """Return the version of a case or of the head of a set."""
    text = json.dumps(value, sort_keys=True)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read_case(source: EvalSetFile, eval_id: str) -> CaseContent:
    """Return one case of a set.

    Raises:
        UnknownCaseError: there is none.
        EvalFileError: the file was changed since it was opened.
    """
    index = _position(source, eval_id)
    value = source.value(index)
    _, _, warnings = read_edited_case(value)
    return CaseContent(eval_id, value, version_of(value), index, source.line(index), warnings)


def preview(file: ListedFile, eval_id: str, value: object) -> EditPreview:
    """Return what a file would be with a case saying `value`.

    Raises:
        NotACaseError: it is none.
        UnknownCaseError, EvalFileError: the case is unknown, or the file cannot be changed.
    """
    source = read_set(file)
    _, warnings = _require_replacement(value, source, eval_id)
    before = text_of_file(file.path)
    edited = with_case(file.path, source, before, _position(source, eval_id), value)
    return EditPreview(before, edited.text, edited.lost_comments, warnings)


def replace_case(
    file: ListedFile, eval_id: str, value: object, *, version: str, comments_may_go: bool = False
) -> CaseContent:
    """Replace a case by `value`, and return the new case.

    Raises:
        ChangedMeanwhileError: the file has another version of it, or none.
        NotACaseError, CommentsWouldGoError, EvalFileError: see `preview`; nothing was written.
    """
    with lock_folder(file.path):
        source = _with_version(file, eval_id, version)
        case, warnings = _require_replacement(value, source, eval_id)
        index = _position(source, eval_id)
        before = text_of_file(file.path)
        edited = with_case(file.path, source, before, index, value)
        write_edit(file.path, before, edited, comments_may_go=comments_may_go)
        if file.form != "yaml" and case.eval_id == eval_id:  # it was read again already at its position
            return CaseContent(eval_id, value, version_of(value), index, source.line(index), warnings)
        written = read_set(file)
        return read_case(written, written.ids()[index])


def add_case(file: ListedFile, value: object) -> CaseContent:
    """Put a new case behind those of a set, and return it.

    Raises:
        NotACaseError: it is none.
        SetupError: its id could not be named, or is taken.
        EvalFileError: the file cannot be changed in place.
    """
    case, _ = require_case(value)
    require_new_case_id(case.eval_id)
    with lock_folder(file.path):
        source = read_set(file)
        _require_free(source, case)
        written = add_remove_cases.add_cases(file.path, [case], source)
    return read_case(written or read_set(file), case.eval_id)


def remove_cases(file: ListedFile, versions: Mapping[str, str]) -> tuple[str, str]:
    """Take cases out of a set, each given with its version; returns the file's text before and after, for `restore`.

    Raises:
        ChangedMeanwhileError, EvalFileError: as `replace_case`; then none of them was removed.
    """
    with lock_folder(file.path):
        source = read_set(file)
        for eval_id, version in versions.items():
            _require_version(source, file, eval_id, version)
        before = text_of_file(file.path)
        add_remove_cases.remove_cases(file.path, [*versions], source)
        return before, text_of_file(file.path)


def restore(file: ListedFile, now: str, before: str) -> None:
    """Give a file the text back that it had `before`, byte for byte.

    Raises:
        ChangedMeanwhileError: the case was changed since it was read.
    """
    with lock_folder(file.path):
        if text_of_file(file.path) != now:
            raise ChangedMeanwhileError(
                f"{file.label}: the file was changed since; undoing would lose that. Nothing was written",
                None,
                "",
            )
        write_text(file.path, before)


# --- what all of them check --------------------------------------------------------------------------------------------


def _position(source: EvalSetFile, eval_id: str) -> int:
    index = source.position(eval_id)
    if index is None:
        hint = did_you_mean(eval_id, source.ids())
        raise UnknownCaseError(f"{source.label}: there is no case {eval_id!r}.{hint}")
    return index


def _require_replacement(
    value: object, source: EvalSetFile, eval_id: str
) -> tuple[EvalCase, list[DocumentFinding]]:
    """A case that can replace `eval_id`, and its warnings."""
    case, warnings = require_case(value)
    if case.eval_id not in {
        eval_id,
        eval_id.rpartition("#")[0],
    }:  # `x#2` is how the second `x` of a set is called
        require_new_case_id(case.eval_id)
        _require_free(source, case)
    return case, warnings


def require_case(value: object) -> tuple[EvalCase, list[DocumentFinding]]:
    """A case that can be written, and its warnings."""
    require_writable(value)
    case, errors, warnings = read_edited_case(value)
    if case is None:
        raise NotACaseError(errors)
    return case, warnings


def require_writable(value: object) -> None:
    """Raise NotACaseError for what no file may hold: half a character, a number that is none."""
    try:
        parse(json.dumps(value, ensure_ascii=False).encode(), "the value")
    except UnicodeEncodeError:
        raise NotACaseError(
            [DocumentFinding((), "it holds half a character (a lone surrogate), which no file keeps")]
        ) from None
    except EvalFileError as error:
        raise NotACaseError([DocumentFinding((), one.message, one.hint) for one in error.problems]) from None


def _require_free(source: EvalSetFile, case: EvalCase) -> None:
    if (position := source.position(case.eval_id)) is not None:
        finding = DocumentFinding(
            ("eval_id",), f"{source.where(position)} has this id already", "give the case another one"
        )
        raise NotACaseError([finding])


def _with_version(file: ListedFile, eval_id: str, version: str) -> EvalSetFile:
    """Open a set and check that its case has the version that was read."""
    source = read_set(file)
    _require_version(source, file, eval_id, version)
    return source


def _require_version(source: EvalSetFile, file: ListedFile, eval_id: str, version: str) -> None:
    require_editable(source)
    if source.position(eval_id) is None:
        raise ChangedMeanwhileError(
            f"{file.label}: the case {eval_id!r} is no longer there; nothing was written", None, ""
        )
    there = read_case(source, eval_id)
    if there.version != version:
        raise ChangedMeanwhileError(
            f"{file.label}:{there.line}: the case {eval_id!r} was changed since it was read; nothing was written",
            there.value,
            there.version,
        )


def write_edit(path: Path, before: str, edited: EditedText, *, comments_may_go: bool) -> None:
    """Write the changed text of a file.

    Raises:
        CommentsWouldGoError: comments would be lost, and may not.
        EvalFileError: the text of the file is not `before`.
    """
    if edited.lost_comments and not comments_may_go:
        raise CommentsWouldGoError(edited.lost_comments)
    if text_of_file(path) != before:
        raise EvalFileError(f"{path}: the file was changed since it was read; nothing was written to it")
    if edited.text != before:
        write_text(path, edited.text)


# --- problems of one case that stop a run -----------------------------------------------------------------------------


_OPTION = re.compile(r"`(\w+)`")


@dataclass(slots=True)
class CheckedCase:
    """The problems of a case, each with its path."""

    errors: list[DocumentFinding] = field(default_factory=list)
    """Problems that prevent saving."""
    refused: list[DocumentFinding] = field(default_factory=list)
    """Problems at which every run ends: the case can be saved, but not run."""
    warnings: list[DocumentFinding] = field(default_factory=list)


def check_case(value: object, path: Path, source: EvalSetFile | None, eval_id: str) -> CheckedCase:
    """Check a case as a run does, independent of its metrics: keys, turns, expectations, rules, schema, final state.

    `path`: the file of its set; by that file's config, a case that asserts nothing is a warning, too.
    `source`: the set, whose other ids the case may not have; `None` if it cannot be read.
    `eval_id`: the id of the case in the set, which the value may change.
    """
    try:
        case, warnings = (
            require_case(value) if source is None else _require_replacement(value, source, eval_id)
        )
    except NotACaseError as error:
        return CheckedCase(errors=error.findings)
    except SetupError as error:  # no new case may have this id
        return CheckedCase(errors=[DocumentFinding(("eval_id",), str(error))])
    refused = [*_misread(warnings), *_problems_of_runs(case, value)]
    unasserted = [] if refused else assertion_findings(case, path)  # its statements may be unreadable
    return CheckedCase(
        refused=refused, warnings=[*(each for each in warnings if each not in refused), *unasserted]
    )


def _misread(warnings: list[DocumentFinding]) -> list[DocumentFinding]:
    """The warnings at which a run with the settings of the project ends."""
    if options_of_project(Path.cwd()).get("allow_unknown_keys", False):
        return []
    return [each for each in warnings if each.is_misread]


def _problems_of_runs(case: EvalCase, value: object) -> list[DocumentFinding]:
    problems = [*case_problems(case, checks_of(())), cannot_run(case)]
    return [_at_its_field(locate_message(one, value), value) for one in dict.fromkeys(filter(None, problems))]


def _at_its_field(finding: DocumentFinding, value: Any) -> DocumentFinding:
    """The finding at the key that its message begins with (`pattern`), where it is about one of an object's."""
    there = value
    for step in finding.path:
        there = there[step]
    match = _OPTION.match(finding.message)
    if (
        match is None or not isinstance(there, dict) or match[1] in [*there.values()]
    ):  # `number` is a kind, no key
        return finding
    return DocumentFinding((*finding.path, match[1]), finding.message, finding.hint)
