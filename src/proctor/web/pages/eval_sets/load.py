"""What the pages about eval sets show, read from the files of a project."""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

from proctor.authoring.check import check_files
from proctor.authoring.edit_case import CaseContent, opened, read_case
from proctor.authoring.edit_header import HeadContent
from proctor.authoring.edit_text import TextContent
from proctor.authoring.eval_set_files import ProjectSets, SetFile
from proctor.common.quick_dataclasses import dataclass
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.case import changeable
from proctor.files.edit.header import WITH_HEAD
from proctor.files.eval_sets.check import Report
from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.selectors import find_config
from proctor.files.eval_sets.source import EvalSetFile
from proctor.files.text.problems import Problem
from proctor.files.text.validation_messages import Finding
from proctor.schema.format.persona import persona_ids
from proctor.web.pages.eval_sets.eval_case import CaseSaved, EvalCasePage, FieldNote, pointer
from proctor.web.pages.eval_sets.eval_sets import (
    EvalCaseList,
    EvalSetHead,
    EvalSetList,
    EvalSetPage,
    EvalSetRow,
    EvalSetText,
    ProblemNote,
    eval_case_row,
)

_OLD = {Kind.OLD_TURNS, Kind.OLD_CASES}
_KEPT = 500
_OPEN = 8
_CASE = re.compile(r"^(?:(?:eval_cases|evalCases|cases)?\[(\d+)\])")


@dataclass(slots=True)
class Look:
    """One set, looked at."""

    source: EvalSetFile | None
    """`None` where it cannot be read."""
    kind: str
    problems: list[ProblemNote]
    stamp: tuple[object, ...]


class SetLooks:
    """Eval sets of a project as they are now; what has not changed since is not read again."""

    def __init__(self, sets: ProjectSets) -> None:
        """Take the project's sets."""
        self.sets = sets
        self._looks: OrderedDict[Path, Look] = OrderedDict()
        self._sources: OrderedDict[Path, tuple[object, EvalSetFile]] = OrderedDict()
        self._lock = Lock()

    def look(self, file: SetFile) -> Look:
        """Return a set with its problems."""
        stamp = _stamp(file.path)
        with self._lock:
            known = self._looks.get(file.path)
        if known is not None and known.stamp == stamp:
            return known
        made = _look(file, stamp)
        with self._lock:
            self._looks[file.path] = made
            while len(self._looks) > _KEPT:
                self._looks.popitem(last=False)
        return made

    def source(self, file: SetFile) -> EvalSetFile:
        """Return a set that is read but not checked, which takes a third of the time.

        Raises:
            EvalFileError: it cannot be read.
        """
        stamp = _state(file.path)
        with self._lock:
            known = self._sources.get(file.path)
        if known is not None and known[0] == stamp:
            return known[1]
        made = opened(file)
        with self._lock:
            self._sources[file.path] = (stamp, made)
            while len(self._sources) > _OPEN:
                self._sources.popitem(last=False)
        return made

    def forget(self, file: SetFile) -> None:
        """Read a set anew the next time: it was written."""
        with self._lock:
            self._looks.pop(file.path, None)
            self._sources.pop(file.path, None)

    # --- pages ---

    def all(self) -> EvalSetList:
        """Return the list of all sets."""
        files = self.sets.all()
        folders = {"": None} | dict.fromkeys(
            sorted(
                parent
                for file in files
                if not Path(file.label).is_absolute()
                and (parent := Path(file.label).parent.as_posix()) != "."
            )
        )
        return EvalSetList(
            items=[EvalSetRow(**_row(file, self.look(file))) for file in files], folders=[*folders]
        )

    def page(self, file: SetFile) -> EvalSetPage:
        """Return one set."""
        look = self.look(file)
        row = _row(file, look)
        source = look.source
        return EvalSetPage(
            **row,
            description=source.header.description if source is not None else None,
            why_not=_why_not(look),
            has_head=source is not None and source.kind in WITH_HEAD,
            migrates_to=self.sets.beside(file).label if row["is_old"] else None,
            problems=look.problems,
            command=f"proctor eval AGENT {shlex.quote(file.label)}",
        )

    def cases(self, file: SetFile, offset: int, limit: int) -> EvalCaseList:
        """Return some cases of a set.

        Raises:
            EvalFileError: it cannot be read.
        """
        look = self.look(file)
        source = look.source if look.source is not None else opened(file)
        found = range(offset, min(len(source), offset + limit))
        by_case: dict[int, list[ProblemNote]] = {}
        for one in look.problems:
            by_case.setdefault(-1 if one.position is None else one.position, []).append(one)
        rows = [eval_case_row(source.case(at), at, source.line(at), by_case.get(at, ())) for at in found]
        return EvalCaseList(items=rows, total=len(source))

    def case(self, file: SetFile, eval_id: str) -> EvalCasePage:
        """Return one case, to be edited.

        Raises:
            UnknownCaseError, EvalFileError: there is none, or its file cannot be read.
        """
        source = self.source(file)
        found = read_case(source, eval_id)
        ids, at = source.ids(), found.position
        why_not = changeable(source)
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
            **saved(found).model_dump(),
        )


def saved(found: CaseContent) -> CaseSaved:
    """Return a case as it was written."""
    return CaseSaved(
        eval_id=found.eval_id,
        position=found.position,
        line=found.line,
        version=found.version,
        value=found.value,
        doubtful=field_notes(found.findings),
    )


def head_page(found: HeadContent) -> EvalSetHead:
    """Return the head of a set, to be edited."""
    return EvalSetHead(
        eval_set_id=found.eval_set_id,
        version=found.version,
        value=found.value,
        doubtful=field_notes(found.findings),
    )


def text_page(file: SetFile, found: TextContent) -> EvalSetText:
    """Return the text of a set, to be edited."""
    return EvalSetText(
        path=file.label,
        text=found.text,
        version=found.version,
        readable=found.readable,
        problems=[_note(problem, file) for problem in found.problems],
    )


def field_notes(findings: Sequence[Finding]) -> list[FieldNote]:
    """Return what was found, field by field."""
    return [FieldNote(pointer=pointer(one.path), message=one.message, hint=one.hint) for one in findings]


# --- looking -----------------------------------------------------------------------------------------------------------


def _stamp(path: Path) -> tuple[object, ...]:
    """What changes when a set, or what judges it, does."""
    try:
        config = find_config(path)
    except SetupError:
        config = None
    return tuple(_state(one) for one in (path, config) if one is not None)


def _state(path: Path) -> object:
    try:
        state = path.stat()
    except OSError:
        return None
    return str(path), state.st_ino, state.st_size, state.st_mtime_ns


def _look(file: SetFile, stamp: tuple[object, ...]) -> Look:
    if file.fault:
        return Look(
            None, "unknown document", [_note(Problem("error", file.label, 1, 1, "", file.fault), file)], stamp
        )
    own, *others = check_files([file.path])
    try:
        source: EvalSetFile | None = opened(file)
    except EvalFileError:
        source = None
    return Look(source, own.kind, list(_notes(file, own, others)), stamp)


def _notes(file: SetFile, own: Report, others: Sequence[Report]) -> Iterator[ProblemNote]:
    yield from (_note(problem, file) for problem in own.problems)
    for report in others:
        yield from (_note(problem, file) for problem in report.problems)


def _note(problem: Problem, file: SetFile) -> ProblemNote:
    is_own = problem.file in {str(file.path), file.label}
    case = _CASE.match(problem.field) if is_own else None
    return ProblemNote(
        severity=problem.severity,
        file=None if is_own else problem.file,
        line=problem.line,
        column=problem.column,
        field=problem.field,
        message=problem.message,
        hint=problem.hint,
        position=int(case[1]) if case else None,
    )


def _why_not(look: Look) -> str:
    if look.source is None:
        return "this file cannot be read; put right what is wrong with it in the file"
    return changeable(look.source)


def _row(file: SetFile, look: Look) -> dict[str, object]:
    source = look.source
    errors = sum(one.severity == "error" for one in look.problems)
    first = min(look.problems, key=lambda one: (one.severity != "error", one.line), default=None)
    return {
        "id": file.id,
        "path": file.label,
        "eval_set_id": source.eval_set_id if source is not None else None,
        "name": source.name if source is not None else None,
        "form": file.form,
        "kind": look.kind,
        "can_edit": not _why_not(look),
        "is_old": source is not None and source.kind in _OLD,
        "cases": len(source) if source is not None else None,
        "errors": errors,
        "warnings": len(look.problems) - errors,
        "first_problem": f"{first.line}:{first.column}: {first.message}" if first else None,
    }
