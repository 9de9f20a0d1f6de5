"""As `google.adk.evaluation.in_memory_eval_sets_manager`."""

from __future__ import annotations

import time

from proctor.compat.adk.argument_errors import set_up, setup_error
from proctor.compat.adk.eval_set_storage import CasesInSets
from proctor.schema.format.case import EvalSet

__all__ = ["InMemoryEvalSetsManager"]


class InMemoryEvalSetsManager(CasesInSets):
    """Eval sets in memory; ids may be anything."""

    def __init__(self) -> None:
        super().__init__()
        self._sets: dict[str, dict[str, EvalSet]] = {}

    def get_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet | None:
        """Return an eval set; `None` when it is not there."""
        return self._sets.get(app_name, {}).get(eval_set_id)

    def create_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet:
        """Create an empty eval set. Raises ValueError: the id will not do, or there is one."""
        sets = self._sets.setdefault(app_name, {})
        if eval_set_id in sets:
            raise setup_error(f"the app {app_name!r} has an eval set {eval_set_id!r} already")
        with set_up():
            eval_set = EvalSet(eval_set_id=eval_set_id, eval_cases=[], creation_timestamp=time.time())
        sets[eval_set_id] = eval_set
        return eval_set

    def list_eval_sets(self, app_name: str) -> list[str]:
        """Return the ids of an app's eval sets."""
        return list(self._sets.get(app_name, {}))

    def _write(self, app_name: str, eval_set_id: str, eval_set: EvalSet, version: str) -> None:
        self._sets[app_name][eval_set_id].eval_cases = eval_set.eval_cases
