"""Files whose cases can be edited in place: exclusive access, their texts, and the check before a text is written."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from weakref import WeakValueDictionary

from proctor.errors import EvalFileError
from proctor.files.edit.bless import bless_case
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.documents import YAML_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.files.text.json_tree import JsonNode
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.serialize import case_hash, kept_json

IN_PLACE = frozenset({Kind.EVAL_SET, Kind.CASE_LINES, Kind.CASE_LIST, Kind.EVAL_CASE})

ENCODED_TWICE = "the document is inside a JSON string"


class Editable(Protocol):
    """The text of a set whose cases can be blessed."""

    def bless(
        self,
        index: int,
        case: EvalCase,
        actual: Sequence[Invocation],
        final_state: Mapping[str, object] | None,
    ) -> bool:
        """Bless a case; return whether that changes the text. Raises EvalFileError, see `bless_case`."""
        ...

    def lost_comments(self) -> list[str]:
        """Return the comments in the replaced text, each as `LINE: COMMENT`."""
        ...

    def text(self) -> str:
        """Return the text with the changes made."""
        ...


def editable(source: EvalSetFile, text: str) -> Editable:
    """Return the text of a set's file for editing.

    Raises:
        EvalFileError: the form is read-only.
    """
    if source.kind not in IN_PLACE:
        raise EvalFileError(
            f"{source.label}: {source.kind}: this form cannot be edited in place; use `proctor convert` to make it JSON first"
        )
    if source.is_encoded_twice:
        raise EvalFileError(
            f"{source.label}: {ENCODED_TWICE}; use `proctor convert` to make it plain JSON first"
        )
    is_yaml = Path(source.label).suffix.lower() in YAML_SUFFIXES
    return _Yaml(source, text) if is_yaml else _Json(source, text)


def text_of_file(path: Path) -> str:
    """Return the text of a file with its line ends. Raises EvalFileError if it cannot be read."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalFileError(f"{path}: cannot be read: {error}") from None


class _Json:
    """One JSON document, or one for each line."""

    def __init__(self, source: EvalSetFile, text: str) -> None:
        self._source = source
        self._is_lines = source.kind is Kind.CASE_LINES
        self._pieces = text.split("\n") if self._is_lines else [text]
        self._edits: dict[int, JsonEdit] = {}

    def bless(
        self,
        index: int,
        case: EvalCase,
        actual: Sequence[Invocation],
        final_state: Mapping[str, object] | None,
    ) -> bool:
        edit, node = self._locate(index)
        changes = edit.changes
        try:
            bless_case(edit, node, case, actual, final_state)
        except EvalFileError:
            edit.undo(changes)
            raise
        return edit.changes > changes

    def lost_comments(self) -> list[str]:
        return [comment for piece, edit in self._edits.items() for comment in edit.lost_comments(piece + 1)]

    def text(self) -> str:
        return "\n".join(
            self._edits[number].text() if number in self._edits else piece
            for number, piece in enumerate(self._pieces)
        )

    def _locate(self, index: int) -> tuple[JsonEdit, JsonNode]:
        """Return the editor of a case, and the node of the case in it."""
        piece = self._source.line(index) - 1 if self._is_lines else 0
        if piece not in self._edits:
            self._edits[piece] = JsonEdit(self._pieces[piece], start=self._pieces[piece].startswith("\ufeff"))
        edit = self._edits[piece]
        node: JsonNode | None = edit.root
        if self._source.kind in {Kind.EVAL_SET, Kind.CASE_LIST}:
            node = cases_of(edit, self._source).at(index)
        if node is None:
            raise EvalFileError(f"{self._source.label}: the file changed while it was read")
        return edit, node


def edit_of(source: EvalSetFile, text: str) -> JsonEdit:
    """Return an editor for a set that is one JSON document; cases whose position is known are not parsed.

    The positions are known if the set was read case by case. A large text then need not be parsed again.
    """
    data, ends = text.encode(), dict[int, int]()
    at, chars = 0, 0
    for start, end in source.byte_ranges():
        chars += len(data[at:start].decode(errors="replace"))
        length = len(data[start:end].decode(errors="replace"))
        ends[chars] = chars + length
        at, chars = end, chars + length
        if text[chars - length : chars - length + 1] != "{" or text[chars - 1 : chars] != "}":
            raise EvalFileError(f"{source.label}: the file changed while it was read")
    return JsonEdit(text, start=text.startswith("\ufeff"), ends=ends)


def cases_of(edit: JsonEdit, source: EvalSetFile) -> JsonNode:
    """Return the list of cases of a set that is one JSON document."""
    node: JsonNode | None = edit.root
    if source.kind is Kind.EVAL_SET:
        node = edit.root.at("eval_cases") or edit.root.at("evalCases")
    if node is None or node.items is None:
        raise EvalFileError(f"{source.label}: the list of cases is missing; did the file change?")
    return node


class _Yaml:
    def __init__(self, source: EvalSetFile, text: str) -> None:
        from proctor.files.edit.yaml_edit import YamlEdit

        self._edit = YamlEdit(source.label, text)

    def bless(
        self,
        index: int,
        case: EvalCase,
        actual: Sequence[Invocation],
        final_state: Mapping[str, object] | None,
    ) -> bool:
        from proctor.files.edit.yaml_case import bless_yaml_case

        changes, cases = self._edit.changes, self._edit.cases
        node = cases[index] if cases else self._edit.root
        try:
            bless_yaml_case(self._edit, node, case, actual, final_state)
        except EvalFileError:
            self._edit.undo(changes)
            raise
        return self._edit.changes > changes

    def lost_comments(self) -> list[str]:
        return self._edit.lost_comments()

    def text(self) -> str:
        return self._edit.text()


# --- exclusive access -------------------------------------------------------------------------------------------------


_guard = threading.Lock()


class _FolderLock:
    """The lock of one folder for the threads of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_locks: WeakValueDictionary[str, _FolderLock] = WeakValueDictionary()


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Exclude other users of this function from changing the files of the folder of `path`.

    Other processes wait, too, if the system can lock folders (not on Windows, and not on every network drive). An editor
    does not use this lock; its changes are detected by comparing the file's content.
    """
    folder = str(Path(os.path.realpath(path)).parent)
    with _guard:
        lock = _locks.setdefault(folder, _FolderLock())
    with lock.lock:
        handle = _lock_for_processes(folder)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)  # releases the lock


def _lock_for_processes(folder: str) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    handle: int | None = None
    try:
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle


# --- check of an edited text ------------------------------------------------------------------------------------------


def check_edit(
    path: Path,
    before: EvalSetFile,
    text: str,
    *,
    changed: Collection[str] = (),
    added: Sequence[EvalCase] = (),
    removed: Collection[str] = (),
    replaced: Mapping[str, EvalCase] | None = None,
) -> dict[str, EvalCase]:
    """Read an edited text, and return its cases with the ids in `changed`.

    `replaced`: the expected new cases by their ids in `before`; they may have another id.

    Raises:
        EvalFileError: the text cannot be read, or another case than those named would change: do not write it.
    """
    after = reread(path, before, text, changed=changed, added=added, removed=removed, replaced=replaced)
    return {eval_id: _case(after, eval_id) for eval_id in changed}


def reread(
    path: Path,
    before: EvalSetFile,
    text: str,
    *,
    changed: Collection[str] = (),
    added: Sequence[EvalCase] = (),
    removed: Collection[str] = (),
    replaced: Mapping[str, EvalCase] | None = None,
) -> EvalSetFile:
    """Return the set of an edited text. See `check_edit` for the arguments and errors."""
    new = replaced or {}
    wanted = _ids_after_edit(before, added=added, removed=removed, replaced=new)
    stated = {case.eval_id: case for case in (*new.values(), *added)}
    after = _open_text(path, text)
    if list(after.ids()) != wanted:
        raise _edit_error(path, "its cases would differ")
    for eval_id in wanted:
        if eval_id not in changed and not _is_as_expected(after, eval_id, before, stated.get(eval_id)):
            raise _edit_error(path, f"the case {eval_id} would change")
    return after


def _ids_after_edit(
    before: EvalSetFile,
    *,
    added: Sequence[EvalCase],
    removed: Collection[str],
    replaced: Mapping[str, EvalCase],
) -> list[str]:
    remaining = (eval_id for eval_id in before.ids() if eval_id not in removed)
    changed = (replaced[eval_id].eval_id if eval_id in replaced else eval_id for eval_id in remaining)
    return [*dict.fromkeys([*changed, *(case.eval_id for case in added)])]


def _open_text(path: Path, text: str) -> EvalSetFile:
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:  # the open file can be read after its name is removed
            return open_eval_set(copy, label=str(path), allow_empty=True, allow_duplicate_ids=True)
        except (EvalFileError, ValueError) as error:
            raise _edit_error(path, f"it could not be read any more ({error})") from None


def _is_as_expected(after: EvalSetFile, eval_id: str, before: EvalSetFile, stated: EvalCase | None) -> bool:
    """Whether a case equals the stated one, or the one before the edit."""
    if stated is not None:
        return _same(_case(after, eval_id), stated)
    old, new = before.position(eval_id), after.position(eval_id)
    if old is None or new is None:
        raise KeyError(eval_id)
    return before.piece(old) == after.piece(new) or _same(before.case(old), after.case(new))


def _same(one: EvalCase, other: EvalCase) -> bool:
    """Whether two cases are equal, except for the order of keys, which YAML does not keep."""
    return case_hash(one) == case_hash(other) or _sorted_json(one) == _sorted_json(other)


def _sorted_json(case: EvalCase) -> str:
    return json.dumps(json.loads(kept_json(case)), sort_keys=True)


def _case(source: EvalSetFile, eval_id: str) -> EvalCase:
    position = source.position(eval_id)
    if position is None:
        raise KeyError(eval_id)
    return source.case(position)


def _edit_error(path: Path, why: str) -> EvalFileError:
    return EvalFileError(
        f"{path}: this file cannot be edited in place (an anchor, or an unusual layout): {why}. Nothing was written; "
        "edit it by hand, or use `proctor convert` first"
    )
