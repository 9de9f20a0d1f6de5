"""As `google.adk.evaluation.eval_set_results_manager`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from proctor.schema.format.result import EvalSetResult

__all__ = ["EvalSetResultsManager"]


class EvalSetResultsManager(ABC):
    """Where the results of evaluations are kept."""

    @abstractmethod
    def save_eval_set_result(
        self, app_name: Any, eval_set_id: str | None = None, eval_case_results: Any = None
    ) -> Any:
        """Keep the results of an eval set."""

    @abstractmethod
    def get_eval_set_result(self, app_name: str, eval_set_result_id: str) -> EvalSetResult:
        """Return a result. Raises NotFoundError: there is none of that id."""

    @abstractmethod
    def list_eval_set_results(self, app_name: str) -> list[str]:
        """Return the ids of an app's results."""
