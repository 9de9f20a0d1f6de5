"""The eval sets in an app's folder, for google-adk's clients: list, read, change."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from proctor.agents.chat_host import Json
from proctor.authoring.assertion_report import assertion_problems_of_file, warning_texts
from proctor.errors import SetupError, did_you_mean
from proctor.files.edit import add_remove_cases
from proctor.files.edit.case import with_case
from proctor.files.edit.editable_file import text_of_file
from proctor.files.eval_sets.save import write_text
from proctor.files.eval_sets.selectors import (
    SET_SUFFIXES,
    is_file,
    require_new_set_id,
    require_path_segment,
    set_path,
)
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.stores.object_store import FolderDocuments
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.case_update import merged_case

_SUFFIXES = tuple(suffix for suffix in SET_SUFFIXES if suffix.startswith(".evalset"))
_NEW_ID = re.compile(r"[a-zA-Z0-9_]+")


class MissingEvalError(SetupError):
    """There is no set or no case with that id."""


def set_ids(app: App) -> list[str]:
    """Return the sorted ids of the sets in an app's folder, in any syntax of a set's file."""
    names = [entry.name for entry in app.folder.iterdir() if entry.is_file()] if app.folder.is_dir() else []
    ids = (name.removesuffix(suffix) for suffix in _SUFFIXES for name in names if name.endswith(suffix))
    return sorted({eval_set_id for eval_set_id in ids if eval_set_id and not eval_set_id.startswith(".")})


def create_set(app: App, wanted: EvalSet) -> EvalSet:
    """Write a new set with its cases.

    Raises:
        SetupError: the id is invalid or taken, or the file cannot be written.
    """
    if not _NEW_ID.fullmatch(wanted.eval_set_id):
        raise SetupError("Invalid Eval Set ID. Eval Set ID should have the `^[a-zA-Z0-9_]+$` format")
    eval_set_id = require_new_set_id(wanted.eval_set_id)
    _require_different([case.eval_id for case in wanted.eval_cases])
    made = EvalSet(
        eval_set_id=eval_set_id,
        name=wanted.name or eval_set_id,
        description=wanted.description,
        eval_cases=wanted.eval_cases,
        creation_timestamp=time.time(),
    )
    exists = eval_set_id in set_ids(app)
    if exists or not FolderDocuments(app.folder).create(set_path(app.folder, eval_set_id).name, made):
        raise SetupError(f"EvalSet {eval_set_id} already exists for app {app.name}.")
    return made


def _require_different(eval_ids: Sequence[str]) -> None:
    if twice := sorted(eval_id for eval_id, count in Counter(eval_ids).items() if count > 1):
        raise SetupError(
            f"two cases have the id {twice[0]!r}: every case needs a unique id. Nothing was written."
        )


def delete_set(app: App, eval_set_id: str) -> None:
    """Delete the file of a set. Raises MissingEvalError, SetupError: it cannot be deleted."""
    path = path_of(app, eval_set_id)
    try:
        path.unlink()
    except OSError as error:
        raise SetupError(f"{path}: cannot be deleted: {error.strerror or error}") from error


def path_of(app: App, eval_set_id: str) -> Path:
    """Return the file of a set.

    Raises:
        MissingEvalError: there is no set with that id.
        SetupError: the id is invalid, or the file is a link to a place outside of the folder.
    """
    require_path_segment(eval_set_id, "the eval set id")
    for suffix in _SUFFIXES:
        path = app.folder / f"{eval_set_id}{suffix}"
        if not is_file(path):
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(app.folder.resolve()):
            raise SetupError(f"the eval set {eval_set_id!r} is a link that leads out of the app's folder")
        return path
    raise MissingEvalError(f"Eval set `{eval_set_id}` not found.{did_you_mean(eval_set_id, set_ids(app))}")


def open_set(app: App, eval_set_id: str) -> EvalSetFile:
    """Open a set. Raises as `path_of`, and EvalFileError: the problem of the file, with its location."""
    return open_eval_set(path_of(app, eval_set_id), allow_empty=True)


def case_of(app: App, eval_set_id: str, eval_id: str) -> EvalCase:
    """Return a case. Raises as `open_set`; MissingEvalError: the set has no such case."""
    source = open_set(app, eval_set_id)
    return source.case(_position(source, eval_set_id, eval_id))


def add_case(app: App, eval_set_id: str, case: EvalCase) -> list[str]:
    """Append a case to a set; return a run's warnings about it: that it asserts nothing, or is negative only.

    Raises as `open_set`; SetupError: there is one of that id.
    """
    with _exclusive(app):
        path = path_of(app, eval_set_id)
        if case.eval_id in open_eval_set(path, allow_empty=True).ids():
            raise SetupError(f"Eval id `{case.eval_id}` already exists in `{eval_set_id}` eval set.")
        add_remove_cases.add_cases(path, [case])
        return warning_texts(assertion_problems_of_file(path, {case.eval_id}))


def update_case(app: App, eval_set_id: str, eval_id: str, stated: Json) -> None:
    """Change the stated fields of a case; the others stay (see `merged_case`).

    Raises as `open_set`; ValidationError: the result is not a valid case.
    """
    with _exclusive(app):
        path = path_of(app, eval_set_id)
        source = open_eval_set(path, allow_empty=True)
        index = _position(source, eval_set_id, eval_id)
        value = merged_case(source.value(index), stated)
        write_text(path, with_case(path, source, text_of_file(path), index, value).text)


def delete_case(app: App, eval_set_id: str, eval_id: str) -> None:
    """Remove a case from a set. Raises as `case_of`."""
    with _exclusive(app):
        path = path_of(app, eval_set_id)
        _position(open_eval_set(path, allow_empty=True), eval_set_id, eval_id)
        add_remove_cases.remove_cases(path, [eval_id])


def require_cases(source: EvalSetFile, eval_ids: Sequence[str]) -> None:
    """Raise MissingEvalError for unknown ids of cases."""
    known = set(source.ids())
    if unknown := [eval_id for eval_id in eval_ids if eval_id not in known]:
        hint = did_you_mean(unknown[0], source.ids())
        names = ", ".join(f"`{eval_id}`" for eval_id in unknown)
        raise MissingEvalError(f"eval set `{source.eval_set_id}` has no case {names}.{hint} Nothing was run.")


def _position(source: EvalSetFile, eval_set_id: str, eval_id: str) -> int:
    found = source.position(eval_id)
    if found is None:
        raise MissingEvalError(f"Eval case `{eval_id}` not found in eval set `{eval_set_id}`.")
    return found


@contextmanager
def _exclusive(app: App) -> Iterator[None]:
    """Serialize changes of an app's sets."""
    with FolderDocuments(app.folder).alone("."):
        yield
