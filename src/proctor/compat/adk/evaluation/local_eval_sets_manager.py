"""As `google.adk.evaluation.local_eval_sets_manager`: eval sets in the folders of the agents."""

from __future__ import annotations

import os
import time
from typing import Any

from proctor.compat.adk.argument_errors import a_path, set_up
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.eval_set_storage import SetsInDocuments
from proctor.files.eval_sets.documents import DocumentKind
from proctor.files.eval_sets.source import open_eval_set
from proctor.schema.format.case import EvalSet
from proctor.schema.format.legacy import convert_cases
from proctor.stores.object_store import FolderDocuments

__all__ = ["LocalEvalSetsManager", "convert_eval_set_to_pydantic_schema", "load_eval_set_from_file"]


class LocalEvalSetsManager(SetsInDocuments):
    """Eval sets as `<agents_dir>/<app>/<id>.evalset.json`."""

    def __init__(self, agents_dir: str | os.PathLike[str]) -> None:
        """Take the folder that holds the agents' folders."""
        super().__init__(FolderDocuments(a_path(agents_dir, "agents_dir")), "{app_name}")

    def _no_sets(self, app_name: str) -> list[str]:
        label = self._documents.label(app_name)
        raise NotFoundError(f"no app {app_name!r}: no folder {label}")


def load_eval_set_from_file(eval_set_file_path: str | os.PathLike[str], eval_set_id: str) -> EvalSet:
    """Read an eval set of any generation; one of an old format gets the id.

    Raises:
        ValueError: every problem of the file with its place.
    """
    with set_up():
        file = open_eval_set(os.fspath(eval_set_file_path), allow_empty=True)
        eval_set = file.eval_set()
    if file.kind in (DocumentKind.OLD_TURNS, DocumentKind.OLD_CASES):
        return eval_set.model_copy(update={"eval_set_id": eval_set_id, "name": eval_set_id})
    return eval_set


def convert_eval_set_to_pydantic_schema(
    eval_set_id: str, eval_set_in_json_format: list[dict[str, Any]]
) -> EvalSet:
    """Convert a list of cases of the old format. Raises ValueError: what is wrong with it, and where."""
    return convert_cases(
        eval_set_in_json_format, eval_set_id=eval_set_id, created=time.time(), compat_adk=True
    )
