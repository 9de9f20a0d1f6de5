"""As `google.adk.evaluation.local_eval_set_results_manager`: results in the agents' folders, or in a separate folder."""

from __future__ import annotations

import os

from proctor.compat.adk.argument_errors import a_path, setup_error
from proctor.compat.adk.result_storage import ResultsInDocuments
from proctor.schema.format.adk_results import HISTORY
from proctor.stores.object_store import FolderDocuments

__all__ = ["LocalEvalSetResultsManager"]


class LocalEvalSetResultsManager(ResultsInDocuments):
    """Results as `<agents_dir>/<app>/.adk/eval_history/*.evalset_result.json`, where `adk web` finds them.

    Or as `<results_dir>/<app>/*.evalset_result.json`.
    """

    def __init__(
        self,
        agents_dir: str | os.PathLike[str] | None = None,
        *,
        results_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """Take the folder that holds the agents' folders, or one for results alone.

        Raises:
            ValueError: neither is given, or both.
        """
        if agents_dir is not None and results_dir is None:
            super().__init__(
                FolderDocuments(a_path(agents_dir, "agents_dir")), "/".join(("{app_name}", *HISTORY))
            )
        elif results_dir is not None and agents_dir is None:
            super().__init__(FolderDocuments(a_path(results_dir, "results_dir")), "{app_name}")
        else:
            raise setup_error("LocalEvalSetResultsManager: expected either agents_dir or results_dir")
