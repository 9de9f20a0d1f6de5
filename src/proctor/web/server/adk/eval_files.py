"""The eval sets in an app's folder, for google-adk's clients: list, read, change."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proctor.agents.chat_host import Json
from proctor.authoring.check_files import assertion_problems_of_file, warning_texts
from proctor.errors import SetupError, did_you_mean
from proctor.files.edit import add_remove_cases
from proctor.files.edit.case import with_case
from proctor.files.edit.editable_file import text_of_file
from proctor.files.eval_sets.eval_set_file import EvalSetFile, read_case
from proctor.files.eval_sets.save import write_text
from proctor.files.eval_sets.selectors import (
    SET_SUFFIXES,
    is_file,
    require_new_set_id,
    require_path_segment,
    set_path,
)
from proctor.files.eval_sets.source import open_eval_set
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.wire_model import to_camel
from proctor.schema.serialize import to_adk_json
from proctor.stores.object_store import FolderDocuments
from proctor.web.server.adk.apps import App

_SUFFIXES = tuple(suffix for suffix in SET_SUFFIXES if suffix.startswith(".evalset"))
_NEW_ID = re.compile(r"[a-zA-Z0-9_]+")


class MissingEvalError(SetupError):
    """There is no set or no case with that id."""


def set_ids(app: App) -> list[str]:
    """Return the sorted ids of the sets in an app's folder, in any syntax of a set's file."""
    names = [entry.name for entry in app.folder.iterdir() if entry.is_file()] if app.folder.is_dir() else []
    ids = (name.removesuffix(suffix) for suffix in _SUFFIXES for name in names if name.endswith(suffix))
    return sorted({eval_set_id for eval_set_id in ids if eval_set_id and not eval_set_id.startswith(".")})


def create_set(app: App, eval_set: EvalSet) -> EvalSet:
    """Write a new set with its cases.

    Raises:
        SetupError: the id is invalid or taken, or the file cannot be written.
    """
    if not _NEW_ID.fullmatch(eval_set.eval_set_id):
        raise SetupError("Invalid Eval Set ID. Eval Set ID should have the `^[a-zA-Z0-9_]+$` format")
    eval_set_id = require_new_set_id(eval_set.eval_set_id)
    _require_different([case.eval_id for case in eval_set.eval_cases])
    new_set = EvalSet(
        eval_set_id=eval_set_id,
        name=eval_set.name or eval_set_id,
        description=eval_set.description,
        eval_cases=eval_set.eval_cases,
        creation_timestamp=time.time(),
    )
    exists = eval_set_id in set_ids(app)
    if exists or not FolderDocuments(app.folder).create(set_path(app.folder, eval_set_id).name, new_set):
        raise SetupError(f"EvalSet {eval_set_id} already exists for app {app.name}.")
    return new_set


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


def update_case(app: App, eval_set_id: str, eval_id: str, changes: Json) -> None:
    """Change the stated fields of a case; the others stay (see `merged_case`).

    Raises as `open_set`; ValidationError: the result is not a valid case.
    """
    with _exclusive(app):
        path = path_of(app, eval_set_id)
        source = open_eval_set(path, allow_empty=True)
        index = _position(source, eval_set_id, eval_id)
        value = merged_case(source.value(index), changes)
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
    position = source.position(eval_id)
    if position is None:
        raise MissingEvalError(f"Eval case `{eval_id}` not found in eval set `{eval_set_id}`.")
    return position


@contextmanager
def _exclusive(app: App) -> Iterator[None]:
    """Serialize changes of an app's sets."""
    with FolderDocuments(app.folder).alone("."):
        yield


# --- merging a case that a client sends with the case in the file -----------------------------------------------------


_CONVERSATION, _SCENARIO, _OPENING = "conversation", "conversation_scenario", "opening"
_KNOWN = {spelling: name for name in EvalCase.model_fields for spelling in (name, to_camel(name))}
_STATED_BY_ABSENCE = frozenset(("final_response", "finalResponse", "intermediate_data", "intermediateData"))
_MARKS_OF_THE_PAGE = ("invocationIndex", "toolUseIndex")


def merged_case(before: Mapping[str, Any], sent: Json) -> Json:
    """Return the new content of a case with `before`, in the file's spelling of each key.

    Raises:
        pydantic.ValidationError: the result is not a valid case.
        SetupError: a field is sent in both spellings.
    """
    _require_each_once(sent)
    changes = {_KNOWN.get(key, key): value for key, value in sent.items()}
    had = {_KNOWN.get(key, key): key for key in before}
    _choose_form(changes, had)
    whole = {_KNOWN.get(key, key): value for key, value in before.items()} | changes
    if changes.get(_CONVERSATION):
        whole[_CONVERSATION] = _turns(changes[_CONVERSATION], before.get(had.get(_CONVERSATION, ""), None))
    written = _to_json(EvalCase.model_validate(whole))
    was, merged = _to_json(read_case(before)[0]), dict(before)
    for name in changes:
        key = had.get(name, name)
        if written.get(name) == was.get(name):
            continue  # equal, perhaps in another spelling
        if name in written:
            merged[key] = written[name]
        else:
            merged.pop(key, None)
    return merged


def _require_each_once(sent: Json) -> None:
    for name in EvalCase.model_fields:
        if name != to_camel(name) and name in sent and to_camel(name) in sent:
            raise SetupError(f"expected {name} once, got it in both spellings ({name} and {to_camel(name)})")


def _to_json(case: EvalCase) -> Json:
    document: Json = json.loads(to_adk_json(case, keep_written=True))
    return document


def _choose_form(changes: Json, had: Mapping[str, str]) -> None:
    """Keep either the conversation or the scenario."""
    if changes.get(_CONVERSATION) and not changes.get(_SCENARIO):
        for name in (_SCENARIO, _OPENING):
            if name in had:
                changes.setdefault(name, None)
    elif changes.get(_SCENARIO) and _CONVERSATION in had:
        changes.setdefault(_CONVERSATION, None)
    elif _SCENARIO in had and _CONVERSATION in changes and _SCENARIO not in changes:
        del changes[_CONVERSATION]  # it is empty


def _turns(sent: object, before: Any) -> object:
    """Return the turns of the request, each with the fields of the file that it does not mention."""
    if not isinstance(sent, list):
        return sent
    old = {_id(turn): turn for turn in before or () if isinstance(turn, Mapping) and _id(turn)}
    return [_turn(turn, old.get(_id(turn), {})) if isinstance(turn, Mapping) else turn for turn in sent]


def _turn(sent: Mapping[str, Any], before: Mapping[str, Any]) -> Json:
    mentioned = {spelling for key in sent for spelling in (key, to_camel(key))}
    fields = {
        key: value
        for key, value in before.items()
        if key not in _STATED_BY_ABSENCE and to_camel(key) not in mentioned
    }
    sent = {key: _without_marks(value) for key, value in sent.items()}
    return {**fields, **{key: _without_unstated_calls(key, value, before) for key, value in sent.items()}}


def _without_unstated_calls(key: str, value: object, before: Mapping[str, object]) -> object:
    """Remove an empty list of calls from the data of a turn if the file states none."""
    had = before.get("intermediate_data", before.get("intermediateData"))
    if key not in {"intermediate_data", "intermediateData"} or not isinstance(value, dict):
        return value
    if not isinstance(had, dict) or any(had.get(name) is not None for name in _CALLS):
        return value
    return {name: item for name, item in value.items() if name not in _CALLS or item}


_CALLS = frozenset(("toolUses", "tool_uses"))


def _without_marks(value: object) -> object:
    """Remove the page's own marks from the expectations of a turn."""
    if isinstance(value, dict):
        return {
            key: [_without_mark(item) for item in items]
            if key in _LISTS and isinstance(items, list)
            else items
            for key, items in value.items()
        }
    return value


_LISTS = frozenset(("invocationEvents", "invocation_events", "toolUses", "tool_uses"))


def _without_mark(one: object) -> object:
    if not isinstance(one, dict):
        return one
    return {key: value for key, value in one.items() if key not in _MARKS_OF_THE_PAGE}


def _id(turn: Mapping[str, Any]) -> str:
    return str(turn.get("invocation_id") or turn.get("invocationId") or "")
