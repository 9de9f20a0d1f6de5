"""The pages about eval sets, read from the files of a project; with a cache of the files that did not change."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.authoring.check_files import check_files, options_of_project
from proctor.authoring.edit_case import CaseContent, read_case, read_set
from proctor.authoring.edit_header import HeadContent
from proctor.authoring.edit_text import TextContent
from proctor.authoring.eval_set_files import ListedFile, ProjectSets
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.editable_file import reason_not_editable
from proctor.files.edit.header import WITH_HEADER
from proctor.files.eval_sets.documents import DocumentKind
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.file_problems import FileCheck
from proctor.files.text.problems import Problem
from proctor.files.text.validation_messages import DocumentFinding
from proctor.runs.arguments import EvaluateOptions
from proctor.runs.setup.settings import find_config
from proctor.schema.format.persona import persona_ids
from proctor.web.pages.base import copy_fields
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.eval_sets.set_pages import (
    CaseSaved,
    EvalCaseList,
    EvalCasePage,
    EvalSetHead,
    EvalSetList,
    EvalSetPage,
    EvalSetRow,
    EvalSetText,
    FieldNote,
    ProblemNote,
    eval_case_row,
    pointer,
)

_OLD = {DocumentKind.OLD_TURNS, DocumentKind.OLD_CASES}
_MOST_CHECKED = 500
_MOST_OPEN = 8
_CASE = re.compile(r"^(?:(?:eval_cases|evalCases|cases)?\[(\d+)\])")


@dataclass(slots=True)
class LoadedSet:
    """A set with its problems."""

    source: EvalSetFile | None
    """`None`: the file cannot be read."""
    kind: str
    problems: list[ProblemNote]

    @property
    def why_not_editable(self) -> str:
        """Why its cases cannot be edited; empty if they can."""
        if self.source is None:
            return "this file cannot be read; correct its errors in the file"
        return reason_not_editable(self.source)


class EvalSetLoader:
    """Loads the pages of a project's eval sets; a file that has not changed is not read again."""

    def __init__(self, sets: ProjectSets) -> None:
        self.sets = sets
        self._checked: BoundedCache[LoadedSet] = BoundedCache(_MOST_CHECKED)
        self._sources: BoundedCache[EvalSetFile] = BoundedCache(_MOST_OPEN)

    def load(self, file: ListedFile, options: EvaluateOptions | None = None) -> LoadedSet:
        """Return a set with its problems, as a run with `options` has them; by default with the settings of the project."""
        run_options = options_of_project(self.sets.root) if options is None else options
        stamp = _state_with_config(file.path, run_options)
        return self._checked.get(file.path, lambda: _load_set(file, run_options), stamp=stamp)

    def source(self, file: ListedFile) -> EvalSetFile:
        """Return a set that is read but not checked, which takes a third of the time.

        Raises:
            EvalFileError: it cannot be read.
        """
        return self._sources.get(file.path, lambda: read_set(file), stamp=file_state(file.path))

    def forget(self, file: ListedFile) -> None:
        """Read a set again the next time, because it was written."""
        self._checked.forget(file.path)
        self._sources.forget(file.path)

    # --- pages ---

    def all(self) -> EvalSetList:
        """Return the list of all sets."""
        files = self.sets.all()
        relative = [Path(file.label) for file in files if not Path(file.label).is_absolute()]
        folders = sorted({path.parent.as_posix() for path in relative} - {"."})
        options = options_of_project(self.sets.root)
        return EvalSetList(
            items=[EvalSetRow(**_row(file, self.load(file, options))) for file in files],
            folders=["", *folders],
        )

    def page(self, file: ListedFile) -> EvalSetPage:
        """Return one set."""
        loaded = self.load(file)
        row = _row(file, loaded)
        source = loaded.source
        return EvalSetPage(
            **row,
            description=source.header.description if source is not None else None,
            why_not=loaded.why_not_editable,
            has_head=source is not None and source.kind in WITH_HEADER,
            migrates_to=self.sets.beside(file).label if row["is_old"] else None,
            problems=loaded.problems,
            command=f"proctor eval AGENT {shlex.quote(file.label)}",
        )

    def cases(self, file: ListedFile, offset: int, limit: int) -> EvalCaseList:
        """Return some cases of a set.

        Raises:
            EvalFileError: it cannot be read.
        """
        loaded = self.load(file)
        source = loaded.source if loaded.source is not None else read_set(file)
        positions = range(offset, min(len(source), offset + limit))
        by_case: dict[int, list[ProblemNote]] = {}
        for problem in loaded.problems:
            if problem.position is not None:
                by_case.setdefault(problem.position, []).append(problem)
        rows = [eval_case_row(source.case(at), at, source.line(at), by_case.get(at, ())) for at in positions]
        return EvalCaseList(items=rows, total=len(source))

    def case(self, file: ListedFile, eval_id: str) -> EvalCasePage:
        """Return one case for editing.

        Raises:
            UnknownCaseError, EvalFileError: there is no such case, or its file cannot be read.
        """
        source = self.source(file)
        case = read_case(source, eval_id)
        ids, at = source.ids(), case.position
        why_not = reason_not_editable(source)
        return EvalCasePage(
            eval_set=file.id,
            eval_set_id=source.eval_set_id,
            path=file.label,
            form=file.form,
            total=len(ids),
            previous=ids[at - 1] if at else None,
            next=ids[at + 1] if at + 1 < len(ids) else None,
            can_edit=not why_not,
            why_not=why_not,
            personas=persona_ids(),
            **saved_case(case).model_dump(),
        )


def saved_case(case: CaseContent) -> CaseSaved:
    """Return a case as the response to saving it."""
    return copy_fields(CaseSaved, case, warnings=field_notes(case.warnings))


def head_page(head: HeadContent) -> EvalSetHead:
    """Return the keys of a set for editing."""
    return copy_fields(EvalSetHead, head, warnings=field_notes(head.warnings))


def text_page(file: ListedFile, text: TextContent) -> EvalSetText:
    """Return the text of a set for editing."""
    problems = [_note(problem, file) for problem in text.problems]
    return copy_fields(EvalSetText, text, path=file.label, problems=problems)


def field_notes(findings: Sequence[DocumentFinding]) -> list[FieldNote]:
    """Return findings, field by field."""
    return [FieldNote(pointer=pointer(one.path), message=one.message, hint=one.hint) for one in findings]


# --- loading -----------------------------------------------------------------------------------------------------------


def _state_with_config(path: Path, options: EvaluateOptions) -> tuple[object, ...]:
    """Return a value that changes with the file of a set, with its config and with the options of a run."""
    path_of_settings = options.get("config")
    try:
        config = Path(path_of_settings) if isinstance(path_of_settings, str) else find_config(path)
    except SetupError:
        config = None
    return repr(options), *(file_state(file) for file in (path, config) if file is not None)


def file_state(path: Path) -> object:
    """Return a value that changes with a file; `None` if it cannot be read."""
    try:
        state = path.stat()
    except OSError:
        return None
    return str(path), state.st_ino, state.st_size, state.st_mtime_ns


def _load_set(file: ListedFile, options: EvaluateOptions) -> LoadedSet:
    if file.fault:
        problem = Problem("error", file.label, 1, 1, "", file.fault)
        return LoadedSet(None, "unknown document", [_note(problem, file)])
    own, *others = check_files([file.path], **options)
    try:
        source: EvalSetFile | None = read_set(file)
    except EvalFileError:
        source = None
    return LoadedSet(source, own.kind, list(_notes(file, own, others)))


def _notes(file: ListedFile, own: FileCheck, others: Sequence[FileCheck]) -> Iterator[ProblemNote]:
    yield from (_note(problem, file) for problem in own.problems)
    for report in others:
        yield from (_note(problem, file) for problem in report.problems)


def _note(problem: Problem, file: ListedFile) -> ProblemNote:
    is_own = problem.file in {str(file.path), file.label}
    case = _CASE.match(problem.field) if is_own else None
    place = None if is_own else problem.file.removeprefix(str(file.path).removesuffix(file.label))
    return copy_fields(ProblemNote, problem, file=place, position=int(case[1]) if case else None)


def _row(file: ListedFile, loaded: LoadedSet) -> dict[str, object]:
    source = loaded.source
    errors = sum(problem.severity == "error" for problem in loaded.problems)
    first = min(
        loaded.problems, key=lambda problem: (problem.severity != "error", problem.line), default=None
    )
    return {
        "id": file.id,
        "path": file.label,
        "eval_set_id": source.eval_set_id if source is not None else None,
        "name": source.name if source is not None else None,
        "form": file.form,
        "kind": loaded.kind,
        "can_edit": not loaded.why_not_editable,
        "is_old": source is not None and source.kind in _OLD,
        "cases": len(source) if source is not None else None,
        "errors": errors,
        "warnings": len(loaded.problems) - errors,
        "first_problem": f"{first.line}:{first.column}: {first.message}" if first else None,
    }
