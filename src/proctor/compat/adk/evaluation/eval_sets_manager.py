"""As `google.adk.evaluation.eval_sets_manager`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from proctor.schema.format.case import EvalCase, EvalSet

__all__ = ["EvalSetsManager"]


class EvalSetsManager(ABC):
    """Where the eval sets of apps are kept."""

    @abstractmethod
    def get_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet | None:
        """Return an eval set; `None` when it is not there."""

    @abstractmethod
    def create_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet:
        """Create an empty eval set. Raises ValueError: the id will not do, or there is one."""

    @abstractmethod
    def list_eval_sets(self, app_name: str) -> list[str]:
        """Return the ids of an app's eval sets. Raises NotFoundError: the app does not exist."""

    @abstractmethod
    def get_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> EvalCase | None:
        """Return a case; `None` when it, or its set, is not there."""

    @abstractmethod
    def add_eval_case(self, app_name: str, eval_set_id: str, eval_case: EvalCase) -> None:
        """Add a case. Raises NotFoundError: the set does not exist; ValueError: it has a case with that id."""

    @abstractmethod
    def update_eval_case(self, app_name: str, eval_set_id: str, updated_eval_case: EvalCase) -> None:
        """Replace the case of the same id, in its place. Raises NotFoundError."""

    @abstractmethod
    def delete_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> None:
        """Remove a case. Raises NotFoundError."""
