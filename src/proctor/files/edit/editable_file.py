"""Files that can be edited in place: exclusive access, their texts, and the check before a text is written."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakValueDictionary

from proctor.errors import EvalFileError
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.eval_sets.documents import DocumentKind
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.source import open_eval_set
from proctor.files.text.json_tree import JsonNode
from proctor.schema.format.case import EvalCase
from proctor.schema.serialize import case_hash, kept_json

IN_PLACE = frozenset(
    {DocumentKind.EVAL_SET, DocumentKind.CASE_LINES, DocumentKind.CASE_LIST, DocumentKind.EVAL_CASE}
)


def reason_not_editable(source: EvalSetFile, kinds: Collection[DocumentKind] = IN_PLACE) -> str:
    """Return why the cases of a set cannot be edited in place; empty if they can. `kinds`: the forms that can."""
    if source.is_encoded_twice:
        return "the document is inside a JSON string, which is read-only: use `proctor convert` to make it plain JSON first"
    if source.kind in kinds:
        return ""
    return f"{source.kind}: this form is read-only: use `proctor migrate` or `proctor convert` first"


def require_editable(source: EvalSetFile, kinds: Collection[DocumentKind] = IN_PLACE) -> EvalSetFile:
    """Return the set. Raises EvalFileError if its cases cannot be edited in place."""
    if why := reason_not_editable(source, kinds):
        raise EvalFileError(f"{source.label}: {why}")
    return source


def text_of_file(path: Path) -> str:
    """Return the text of a file with its line ends. Raises EvalFileError if it cannot be read."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalFileError(f"{path}: cannot be read: {error}") from None


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
    if source.kind is DocumentKind.EVAL_SET:
        node = edit.root.at("eval_cases") or edit.root.at("evalCases")
    if node is None or node.items is None:
        raise EvalFileError(f"{source.label}: the list of cases is missing; did the file change?")
    return node


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
    ids: Sequence[str] | None = None,
    changed: Mapping[str, EvalCase | None] | None = None,
    added: Sequence[EvalCase] = (),
    removed: Collection[str] = (),
) -> EvalSetFile:
    """Return the set of an edited text.

    `ids`: the cases of `before` that the text has, by default all. `changed`: by their ids in `before`, the cases that may
    change, each with its new content (`None`: any). It may have another id.

    Raises:
        EvalFileError: the text cannot be read, or another case than those named would change: do not write it.
    """
    changed = changed or {}
    expected = {case.eval_id: case for case in (*filter(None, changed.values()), *added)}
    expected_ids = _ids_after_edit(before.ids() if ids is None else ids, changed, added, removed)
    after = _open_text(path, text)
    if list(after.ids()) != expected_ids:
        raise _edit_error(path, "its cases would differ")
    anything = {eval_id for eval_id, case in changed.items() if case is None}
    for eval_id in expected_ids:
        if eval_id not in anything and not _is_as_expected(after, eval_id, before, expected.get(eval_id)):
            raise _edit_error(path, f"the case {eval_id} would change")
    return after


def _ids_after_edit(
    before: Sequence[str],
    changed: Mapping[str, EvalCase | None],
    added: Sequence[EvalCase],
    removed: Collection[str],
) -> list[str]:
    remaining = (eval_id for eval_id in before if eval_id not in removed)
    moved = (case.eval_id if (case := changed.get(eval_id)) else eval_id for eval_id in remaining)
    return [*dict.fromkeys([*moved, *(case.eval_id for case in added)])]


def _open_text(path: Path, text: str) -> EvalSetFile:
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:  # the open file can be read after its name is removed
            return open_eval_set(copy, label=str(path), allow_empty=True, allow_duplicate_ids=True)
        except (EvalFileError, ValueError) as error:
            raise _edit_error(path, f"it could not be read any more ({error})") from None


def _is_as_expected(after: EvalSetFile, eval_id: str, before: EvalSetFile, expected: EvalCase | None) -> bool:
    """Whether a case equals the stated one, or the one before the edit."""
    if expected is not None:
        return _same(after.case_of(eval_id), expected)
    old, new = before.position(eval_id), after.position(eval_id)
    if old is None or new is None:
        raise KeyError(eval_id)
    return before.piece(old) == after.piece(new) or _same(before.case(old), after.case(new))


def _same(one: EvalCase, other: EvalCase) -> bool:
    """Whether two cases are equal, except for the order of keys, which YAML does not keep."""
    return case_hash(one) == case_hash(other) or _sorted_json(one) == _sorted_json(other)


def _sorted_json(case: EvalCase) -> str:
    return json.dumps(json.loads(kept_json(case)), sort_keys=True)


def _edit_error(path: Path, why: str) -> EvalFileError:
    return EvalFileError(
        f"{path}: this file cannot be edited in place (an anchor, or an unusual layout): {why}. Nothing was written; "
        "edit it by hand, or use `proctor convert` first"
    )
