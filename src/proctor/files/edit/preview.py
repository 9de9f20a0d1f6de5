"""Check an edited text before it is written: only the intended cases may differ."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.errors import EvalFileError
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.schema.format.case import EvalCase
from proctor.schema.serialize import case_hash, kept_json


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
    wanted = [new[each].eval_id if each in new else each for each in before.ids() if each not in removed]
    stated = {case.eval_id: case for case in (*new.values(), *added)}
    wanted = [*dict.fromkeys([*wanted, *(case.eval_id for case in added)])]
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:  # the open file can be read after its name is removed
            after = open_eval_set(copy, label=str(path), allow_empty=True, allow_duplicate_ids=True)
        except (EvalFileError, ValueError) as error:
            raise _edit_error(path, f"it could not be read any more ({error})") from None
    if list(after.ids()) != wanted:
        raise _edit_error(path, "its cases would differ")
    for eval_id in wanted:
        if eval_id not in changed and not _is_as_expected(after, eval_id, before, stated.get(eval_id)):
            raise _edit_error(path, f"the case {eval_id} would change")
    return after


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
