"""What an edit of a set's file comes to, looked at before it is written: the cases that are meant, and no others."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.errors import EvalFileError
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.schema.evidence.serialize import case_hash, kept_json
from proctor.schema.format.case import EvalCase


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
    """Read an edited text again, and return the cases of `changed` as they would then be.

    `replaced`: cases by the ids that they have in `before`, as they have to be now, under the same id or another.

    Raises:
        EvalFileError: it cannot be read, or another case than those named would be another one: nothing may be written.
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
    """Return the set that an edited text is. As `check_edit`, and with the same errors."""
    new = replaced or {}
    wanted = [new[each].eval_id if each in new else each for each in before.ids() if each not in removed]
    stated = {case.eval_id: case for case in (*new.values(), *added)}
    wanted = [*dict.fromkeys([*wanted, *(case.eval_id for case in added)])]
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:  # it stays open, and is read on when its name is gone
            after = open_eval_set(copy, label=str(path), allow_empty=True, allow_duplicate_ids=True)
        except (EvalFileError, ValueError) as error:
            raise _refused(path, f"it could not be read any more ({error})") from None
    if list(after.ids()) != wanted:
        raise _refused(path, "its cases would be others")
    for eval_id in wanted:
        if eval_id not in changed and not _says(after, eval_id, before, stated.get(eval_id)):
            raise _refused(path, f"the case {eval_id} would be another one")
    return after


def _says(after: EvalSetFile, eval_id: str, before: EvalSetFile, stated: EvalCase | None) -> bool:
    """Whether a case says what is stated, or what it said; the same bytes say the same."""
    if stated is not None:
        return _same(_case(after, eval_id), stated)
    old, new = before.position(eval_id), after.position(eval_id)
    if old is None or new is None:
        raise KeyError(eval_id)
    return before.piece(old) == after.piece(new) or _same(before.case(old), after.case(new))


def _same(one: EvalCase, other: EvalCase) -> bool:
    """Whether two cases say the same; in which order their keys stand, YAML decides for itself."""
    return case_hash(one) == case_hash(other) or _sorted(one) == _sorted(other)


def _sorted(case: EvalCase) -> str:
    return json.dumps(json.loads(kept_json(case)), sort_keys=True)


def _case(source: EvalSetFile, eval_id: str) -> EvalCase:
    position = source.position(eval_id)
    if position is None:
        raise KeyError(eval_id)
    return source.case(position)


def _refused(path: Path, why: str) -> EvalFileError:
    return EvalFileError(
        f"{path}: this file cannot be changed in place (an anchor, or an unusual layout): {why}. Nothing was written; "
        "change it by hand, or `proctor convert` it first"
    )
