"""What an edit of a set's file comes to, looked at before it is written: the cases that are meant, and no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.errors import EvalFileError
from proctor.files.eval_sets import EvalSetFile, open_eval_set
from proctor.schema.case import EvalCase
from proctor.schema.kept import case_hash

Content = dict[str, bytes]
"""The cases of a set: what each says, by id, in order."""


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
    there = {eval_id: said for eval_id, said in _content(before).items() if eval_id not in removed}
    new = {eval_id: (case.eval_id, case_hash(case)) for eval_id, case in (replaced or {}).items()}
    wanted = dict(new.get(eval_id, (eval_id, said)) for eval_id, said in there.items())
    wanted |= {case.eval_id: case_hash(case) for case in added}
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            after = open_eval_set(copy, label=str(path), allow_empty=True, allow_duplicate_ids=True)
            found, cases = _content(after), {eval_id: _case(after, eval_id) for eval_id in changed}
        except (EvalFileError, KeyError, ValueError) as error:
            raise _refused(path, f"it could not be read any more ({error})") from None
    if list(found) != list(wanted):
        raise _refused(path, "its cases would be others")
    for eval_id, said in wanted.items():
        if eval_id not in changed and found[eval_id] != said:
            raise _refused(path, f"the case {eval_id} would be another one")
    return cases


def _content(source: EvalSetFile) -> Content:
    return {eval_id: case_hash(source.case(index)) for index, eval_id in enumerate(source.ids())}


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
