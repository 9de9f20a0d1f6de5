"""Eval sets kept as documents: one rule for folders, buckets and memory."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from proctor.compat.adk.argument_errors import InvalidSetupError, a_model, set_up, setup_error
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.eval_sets_manager import EvalSetsManager
from proctor.files.eval_sets.selectors import require_new_set_id, require_path_segment
from proctor.files.eval_sets.source import load_eval_set_text
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.serialize import to_adk_json
from proctor.stores.object_store import ConcurrentWriteError, Documents

SUFFIX = ".evalset.json"
_ATTEMPTS = 20


class CasesInSets(EvalSetsManager):
    """What a manager does with cases, for those that can read and write a whole set."""

    def __init__(self) -> None:
        self._changing = threading.Lock()

    def _new_case(self, case: EvalCase) -> EvalCase:
        """Return a new case in its stored form."""
        return case

    @abstractmethod
    def _write(self, app_name: str, eval_set_id: str, eval_set: EvalSet, version: str) -> None: ...

    def _version(self, app_name: str, eval_set_id: str) -> str:
        """What changes whenever the set does, for those that cannot keep others away."""
        return ""

    def _exclusive_access(self, app_name: str) -> AbstractContextManager[None]:
        """Prevent other processes from changing the app's sets, if the storage can."""
        return nullcontext()

    def get_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> EvalCase | None:
        """Return a case; `None` when it, or its set, is not there."""
        eval_set = self.get_eval_set(app_name, eval_set_id)
        cases = eval_set.eval_cases if eval_set is not None else []
        return next((case for case in cases if case.eval_id == eval_case_id), None)

    def add_eval_case(self, app_name: str, eval_set_id: str, eval_case: EvalCase) -> None:
        """Add a case. Raises NotFoundError: the set does not exist; ValueError: it has a case with that id."""
        added = a_model(EvalCase, eval_case, "eval_case")

        def add(cases: list[EvalCase]) -> None:
            if any(case.eval_id == added.eval_id for case in cases):
                raise setup_error(f"eval set {eval_set_id!r} has a case {added.eval_id!r} already")
            cases.append(self._new_case(added))

        self._change(app_name, eval_set_id, add)

    def update_eval_case(self, app_name: str, eval_set_id: str, updated_eval_case: EvalCase) -> None:
        """Replace the case of the same id, in its place. Raises NotFoundError."""
        updated = a_model(EvalCase, updated_eval_case, "updated_eval_case")

        def replace(cases: list[EvalCase]) -> None:
            cases[_index(cases, eval_set_id, updated.eval_id)] = updated

        self._change(app_name, eval_set_id, replace)

    def delete_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> None:
        """Remove a case. Raises NotFoundError."""

        def remove(cases: list[EvalCase]) -> None:
            del cases[_index(cases, eval_set_id, eval_case_id)]

        self._change(app_name, eval_set_id, remove)

    def _change(self, app_name: str, eval_set_id: str, change: Callable[[list[EvalCase]], None]) -> None:
        """Change the cases of a set, based on its current content if another process has changed it."""
        for _ in range(_ATTEMPTS):
            with self._changing, self._exclusive_access(app_name), suppress(ConcurrentWriteError):
                version = self._version(app_name, eval_set_id)
                eval_set = self.get_eval_set(app_name, eval_set_id)
                if eval_set is None:
                    raise NotFoundError(f"no eval set {eval_set_id!r} of the app {app_name!r}")
                cases = list(eval_set.eval_cases)
                change(cases)
                self._write(app_name, eval_set_id, eval_set.model_copy(update={"eval_cases": cases}), version)
                return
        raise setup_error(f"eval set {eval_set_id!r}: others change it all the time; nothing was written")


class SetsInDocuments(CasesInSets):
    """Eval sets as `<folder of the app>/<id>.evalset.json`, in the text that google-adk writes.

    Unlike google-adk, a `tool_uses: []` that a file has, or that an updated case states, stays. A new case is written
    byte for byte as by google-adk, which leaves it out.
    """

    def __init__(self, documents: Documents, folder: str) -> None:
        """Take where documents are, and where those of an app are there (with `{app_name}`)."""
        super().__init__()
        self._documents, self._folder = documents, folder

    def get_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet | None:
        """Return an eval set; `None` when it is not there."""
        path = self._path(app_name, eval_set_id)
        with set_up():
            data = self._documents.read(path)
            return None if data is None else load_eval_set_text(data, self._documents.label(path))

    def create_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet:
        """Create an empty eval set. Raises ValueError: the id will not do, or there is one."""
        with set_up():
            eval_set = EvalSet(
                eval_set_id=eval_set_id, name=eval_set_id, eval_cases=[], creation_timestamp=time.time()
            )
            require_new_set_id(eval_set_id)
            path = self._path(app_name, eval_set_id)
            if not self._documents.create(path, eval_set):
                raise setup_error(f"{self._documents.label(path)}: there is an eval set of that id already")
        return eval_set

    def list_eval_sets(self, app_name: str) -> list[str]:
        """Return the ids of an app's eval sets."""
        with set_up():
            names = self._documents.names(self._app(app_name))
        if names is None:
            return self._no_sets(app_name)
        return [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]

    def _no_sets(self, app_name: str) -> list[str]:
        """Return an empty list of sets for an app without storage."""
        return []

    def _new_case(self, case: EvalCase) -> EvalCase:
        return EvalCase.model_validate_json(to_adk_json(case))

    def _version(self, app_name: str, eval_set_id: str) -> str:
        path = self._path(app_name, eval_set_id)
        with set_up():
            return self._documents.version(path)

    def _write(self, app_name: str, eval_set_id: str, eval_set: EvalSet, version: str) -> None:
        path = self._path(app_name, eval_set_id)
        try:
            with set_up():
                self._documents.save(path, eval_set, version=version)
        except InvalidSetupError as error:
            if isinstance(error.problems[0], ConcurrentWriteError):
                raise error.problems[0] from None
            raise

    def _exclusive_access(self, app_name: str) -> AbstractContextManager[None]:
        with set_up():
            return self._documents.alone(self._app(app_name))

    def _path(self, app_name: str, eval_set_id: str) -> str:
        with set_up():
            return f"{self._app(app_name)}/{require_path_segment(eval_set_id, 'the eval set id')}{SUFFIX}"

    def _app(self, app_name: str) -> str:
        return self._folder.format(app_name=require_path_segment(app_name, "the app name"))


def _index(cases: list[EvalCase], eval_set_id: str, eval_case_id: str) -> int:
    position = next((index for index, case in enumerate(cases) if case.eval_id == eval_case_id), None)
    if position is None:
        raise NotFoundError(f"eval set {eval_set_id!r} has no case {eval_case_id!r}")
    return position
