"""Convert eval sets: between JSON, YAML and JSON lines, and from the old list formats as ADK's own helper does."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    YAML_SUFFIXES,
    Document,
    DocumentKind,
    kind,
    not_a,
    problems_at,
    read_document,
    set_id_of,
)
from proctor.files.eval_sets.old_formats import (
    OLD_KEYS,
    OLD_KINDS,
    adapt_document,
    old_objects,
    path_findings,
)
from proctor.files.eval_sets.save import save_eval_set, save_lines, write_text
from proctor.files.eval_sets.source import open_document, open_eval_set
from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.text.validation_messages import (
    DocumentFinding,
    describe_value,
    findings_of_error,
    near_key,
)
from proctor.schema.format.case import EvalSet, SessionInput
from proctor.schema.format.legacy import SESSION_KEYS, convert_cases, convert_turns, in_snake_case
from proctor.schema.format.wire_model import PathError


@dataclass(slots=True)
class Conversion:
    """The result of a conversion."""

    cases: int
    comments_lost: bool = False
    """Whether the source has comments, which are not kept."""
    warnings: list[Problem] = field(default_factory=list)


def convert(source: str | Path, target: str | Path, *, allow_duplicate_ids: bool = False) -> Conversion:
    """Convert the eval set `source`, of any generation, to JSON, YAML or JSON lines, by the suffix of `target`.

    An existing target is replaced atomically. YAML is read again before it is written: if it does not equal the source,
    nothing is written. Comments are not kept. JSON lines are written case by case, in little memory.

    Raises:
        EvalFileError: the source is not an eval set, the target has another suffix, or it cannot be written.
    """
    target = Path(target)
    suffix = target.suffix.lower()
    if suffix not in {".json", LINES_SUFFIX, *YAML_SUFFIXES}:
        raise EvalFileError(f"{target}: unknown suffix {suffix!r}: name a .json, .yaml, .yml or .jsonl file")
    opened = open_eval_set(source, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
    if suffix == LINES_SUFFIX:
        save_lines(opened.header, opened, target)
    elif suffix == ".json":
        save_eval_set(opened.eval_set(), target, comments_may_go=True)
    else:
        write_text(target, yaml_text(opened.eval_set(), str(target)))
    return Conversion(len(opened), opened.has_comments, opened.warnings)


def yaml_text(eval_set: EvalSet, name: str = "<yaml>") -> str:
    """Return the set as YAML in the short form; `name` is the target file.

    Raises:
        EvalFileError: YAML cannot represent the set (a lone surrogate, NUL).
    """
    from proctor.files.yaml.cases import read_document
    from proctor.files.yaml.writer import write_yaml

    text = write_yaml(eval_set)
    again = open_document(read_document(text.encode(), name), allow_duplicate_ids=True, allow_empty=True)
    if again.eval_set() != eval_set:
        raise EvalFileError(
            f"{name}: YAML cannot represent this set exactly; nothing was written. Keep it as JSON"
        )
    return text


def migrate(
    old: str | Path,
    new: str | Path,
    *,
    initial_session: str | Path | None = None,
    comments_may_go: bool = False,
    warnings: list[Problem] | None = None,
) -> EvalSet:
    """Convert the file `old` (either old list format) and write the set to `new`, with all fields; return it.

    `initial_session` is a file `{app_name, user_id, state}`, for a list of turns only: old sets of cases contain theirs.
    A file that already has the new schema is written as it was read. Dropped keys are reported in `warnings`.

    Raises:
        EvalFileError: a file cannot be read or written, or an initial session does not apply.
    """
    document = read_document(Path(old))
    session = read_initial_session(initial_session)
    eval_set = convert_document(document, str(old), session)
    if warnings is not None:
        warnings += _dropped_key_warnings(document)
        warnings += _comment_warnings(document, new)
        warnings += _duplicate_name_warnings(document)
        warnings += _session_key_warnings(initial_session, session)
    save_eval_set(eval_set, new, full=True, comments_may_go=comments_may_go)
    return eval_set


def convert_document(document: Document, eval_id: str, session: dict[str, object] | None) -> EvalSet:
    """Return the set that ADK's helper makes of a document: missing values become empty, unknown keys are dropped.

    `eval_id` is the id of the only case of a list of turns: ADK uses the path as the user wrote it.
    """
    document_kind = kind(document.value, document.name)
    if document_kind is not DocumentKind.OLD_TURNS and session is not None:
        message = f"an initial session belongs to a list of turns, but this is {'an' if document_kind.value[0] in 'aeio' else 'a'} {document_kind}"
        raise file_error(
            problems_at(document, [DocumentFinding((), message, "leave the initial session out")])
        )
    if document_kind not in OLD_KINDS:
        if document_kind is DocumentKind.UNKNOWN:
            raise file_error(
                [*document.warnings, *not_a(document, "an old test file or eval set", document_kind)]
            )
        return open_document(document, allow_empty=True).eval_set()
    created = time.time()
    adapted, _ = adapt_document(document.value, document_kind)
    try:
        if document_kind is DocumentKind.OLD_CASES:
            return convert_cases(
                adapted, eval_set_id=set_id_of(document.name), created=created, compat_adk=True
            )
        return convert_turns(
            adapted,
            eval_set_id=str(uuid.uuid4()),
            eval_id=eval_id,
            initial_session=session,
            created=created,
            compat_adk=True,
        )
    except PathError as error:
        raise file_error(problems_at(document, path_findings(error, document.value))) from None


# --- warnings ----------------------------------------------------------------------------------------------------------


def _dropped_key_warnings(document: Document) -> list[Problem]:
    """Report the keys of an old document that ADK's helper drops, each at its first position."""
    document_kind = kind(document.value, document.name)
    if document_kind not in OLD_KINDS:
        return []
    places: dict[str, list[Path_]] = {}
    for path, value, place in old_objects(document.value, document_kind):
        for key in value:
            if key not in OLD_KEYS[place] and to_snake(key) not in OLD_KEYS[place]:
                places.setdefault(key, []).append((*path, key))
    hint = "as by ADK's own helper; `proctor convert` keeps it"
    findings = [
        DocumentFinding(
            paths[0], f"dropped, {len(paths)} times" if len(paths) > 1 else "dropped", hint, at_key=True
        )
        for paths in islice(places.values(), 100)
    ]
    return problems_at(document, findings, "warning")


def _comment_warnings(document: Document, new: str | Path) -> list[Problem]:
    if not document.has_comments:
        return []
    return [Problem("warning", document.name, 1, 1, "", f"the comments of this file are not in {new}", "")]


def _duplicate_name_warnings(document: Document) -> list[Problem]:
    """Report cases with the same name. ADK's helper keeps them, and a run refuses the set that it makes."""
    if kind(document.value, document.name) is not DocumentKind.OLD_CASES:
        return []
    first: dict[str, int] = {}
    findings = [
        DocumentFinding(
            (index, "name"),
            f"the case [{first[name]}] has this name, too",
            "a run refuses the set: rename one",
        )
        for index, case in enumerate(document.value)
        if first.setdefault(name := case["name"], index) != index
    ]
    return problems_at(document, findings[:100], "warning")


def _session_key_warnings(path: str | Path | None, session: dict[str, object] | None) -> Iterator[Problem]:
    for key in islice(session or (), 100):
        if to_snake(key) not in SESSION_KEYS:
            near = near_key(key, SESSION_KEYS)
            hint = f"did you mean `{near}`?" if near else "as by ADK's own helper"
            yield Problem("warning", str(path), 1, 1, key, "dropped", hint)


def read_initial_session(path: str | Path | None) -> dict[str, Any] | None:
    """Read the session in which a list of turns starts: `app_name`, `user_id`, `state`. Raises EvalFileError."""
    if path is None:
        return None
    document = read_document(Path(path))
    value = document.value
    if not isinstance(value, dict):
        message = f"expected an initial session (`app_name`, `user_id`, `state`), got {describe_value(value)}"
        raise file_error(problems_at(document, [DocumentFinding((), message)]))
    try:
        SessionInput.model_validate({"app_name": "", "user_id": "", **in_snake_case(value, SESSION_KEYS)})
    except ValidationError as error:
        raise file_error(problems_at(document, findings_of_error(error, value))) from None
    return value
