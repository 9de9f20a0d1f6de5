"""As `google.adk.evaluation.agent_evaluator`: evaluations in tests, over Proctor's engine and verdicts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.compat.adk.argument_errors import a_path, set_up, setup_error
from proctor.compat.adk.evaluation_run import EvaluationRequest, evaluate_files, evaluate_set
from proctor.compat.adk.sync_or_async import Evaluation
from proctor.files.eval_sets.convert import migrate
from proctor.runs.load import load_config
from proctor.runs.setup.settings import find_config
from proctor.schema.format.case import EvalSet
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.criterion import PrebuiltMetrics
from proctor.schema.results.run_result import RunResult

__all__ = [
    "ALLOWED_CRITERIA",
    "EXPECTED_TOOL_USE_COLUMN",
    "NUM_RUNS",
    "QUERY_COLUMN",
    "REFERENCE_COLUMN",
    "RESPONSE_EVALUATION_SCORE_KEY",
    "RESPONSE_MATCH_SCORE_KEY",
    "SAFETY_V1_KEY",
    "TOOL_TRAJECTORY_SCORE_KEY",
    "AgentEvaluator",
    "load_json",
]

NUM_RUNS = 2
"""Number of runs of each case by default."""

TOOL_TRAJECTORY_SCORE_KEY = PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value
RESPONSE_EVALUATION_SCORE_KEY = PrebuiltMetrics.RESPONSE_EVALUATION_SCORE.value
RESPONSE_MATCH_SCORE_KEY = PrebuiltMetrics.RESPONSE_MATCH_SCORE.value
SAFETY_V1_KEY = PrebuiltMetrics.SAFETY_V1.value
ALLOWED_CRITERIA = [
    TOOL_TRAJECTORY_SCORE_KEY,
    RESPONSE_EVALUATION_SCORE_KEY,
    RESPONSE_MATCH_SCORE_KEY,
    SAFETY_V1_KEY,
]
"""What google-adk takes for files of the old formats. Here any metric scores them."""

QUERY_COLUMN = "query"
REFERENCE_COLUMN = "reference"
EXPECTED_TOOL_USE_COLUMN = "expected_tool_use"
"""Keys of the oldest format."""

TEST_FILES = ".test.json"
"""What a folder is searched for."""


def load_json(file_path: str | os.PathLike[str]) -> dict[str, Any] | list[Any]:
    """Return the object or the list in a JSON file.

    Raises:
        ValueError: it holds no JSON.
    """
    data: dict[str, Any] | list[Any] = json.loads(Path(file_path).read_text(encoding="utf-8"))
    return data


class AgentEvaluator:
    """Evaluates agents in tests.

    `evaluate` and `evaluate_eval_set` may be awaited (in an `async def` test) or called plainly (in a `def` test). They
    raise an AssertionError, which has the `result`, unless everything passed, and return the result when it did. The message
    contains the evidence of each failed case; `print_detailed_results` also prints google-adk's tables.
    `agent_module` is a dotted module, or any other agent that `proctor.evaluate` takes: a path, an object, a function.
    """

    @staticmethod
    def evaluate_eval_set(  # noqa: PLR0913, PLR0917 - google-adk's signature
        agent_module: Any,
        eval_set: EvalSet | Mapping[str, Any],
        criteria: Mapping[Any, Any] | None = None,
        eval_config: EvalConfig | Mapping[str, Any] | None = None,
        num_runs: int = NUM_RUNS,
        agent_name: str | None = None,
        print_detailed_results: bool = False,  # noqa: FBT001, FBT002 - google-adk's signature
        artifact_service: Any = None,
        output_file: str | os.PathLike[str] | None = None,
        app_name: str | None = None,
        eval_set_results_manager: Any = None,
    ) -> Evaluation[RunResult]:
        """Run every case of `eval_set` `num_runs` times and score it by `eval_config`, or by `criteria` where given.

        `criteria` maps metrics to thresholds or criteria. `agent_name` picks a sub-agent. `output_file` is a CSV file
        to append to. `eval_set_results_manager` keeps the results, under `app_name`.

        Raises:
            AssertionError: something did not pass; `result` of the exception is the whole result.
            ValueError: the set-up is wrong; nothing was run.
        """
        __tracebackhide__ = True
        request = EvaluationRequest(
            agent=agent_module, num_runs=num_runs, agent_name=agent_name, printed=print_detailed_results,
            artifact_service=artifact_service, output_file=output_file, app_name=app_name,
            keeper=eval_set_results_manager,
        )  # fmt: skip
        config = {"criteria": criteria} if criteria is not None else eval_config
        return Evaluation("AgentEvaluator.evaluate_eval_set", lambda: evaluate_set(request, eval_set, config))

    @staticmethod
    def evaluate(  # noqa: PLR0913, PLR0917 - google-adk's signature
        agent_module: Any,
        eval_dataset_file_path_or_dir: str | os.PathLike[str],
        num_runs: int = NUM_RUNS,
        agent_name: str | None = None,
        initial_session_file: str | os.PathLike[str] | None = None,
        print_detailed_results: bool = False,  # noqa: FBT001, FBT002 - google-adk's signature
        artifact_service: Any = None,
        output_file: str | os.PathLike[str] | None = None,
        app_name: str | None = None,
        eval_set_results_manager: Any = None,
    ) -> Evaluation[RunResult]:
        """Run the eval set in a file, or those in every `*.test.json` of a folder and below.

        The `test_config.json` in its folder (or above it, within the project) applies to each file, otherwise the defaults.
        `initial_session_file` is the session that old lists of turns start in. The rest as for `evaluate_eval_set`.
        """
        __tracebackhide__ = True
        request = EvaluationRequest(
            agent=agent_module, num_runs=num_runs, agent_name=agent_name, printed=print_detailed_results,
            artifact_service=artifact_service, output_file=output_file, app_name=app_name,
            keeper=eval_set_results_manager,
        )  # fmt: skip
        path = a_path(eval_dataset_file_path_or_dir, "eval_dataset_file_path_or_dir")
        return Evaluation(
            "AgentEvaluator.evaluate", lambda: evaluate_files(request, _files(path), initial_session_file)
        )

    @staticmethod
    def find_config_for_test_file(test_file: str | os.PathLike[str]) -> EvalConfig:
        """Return the config that scores the cases of `test_file`: the `test_config.json` found for it, or the defaults.

        Raises:
            ValueError: there is one, and something is wrong with it; the message has every problem with its place.
        """
        with set_up():
            path = find_config(Path(a_path(test_file, "test_file")))
            return load_config(path) if path is not None else EvalConfig.default()

    @staticmethod
    def migrate_eval_data_to_new_schema(
        old_eval_data_file: str | os.PathLike[str],
        new_eval_data_file: str | os.PathLike[str],
        initial_session_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write a file of an old format as an eval set, with all fields; as `proctor migrate OLD NEW` does.

        Raises:
            ValueError: a name is missing, or a file cannot be read or written.
        """
        with set_up():
            if not old_eval_data_file or not new_eval_data_file:
                raise setup_error("both old_eval_data_file and new_eval_data_file are needed")
            session = Path(initial_session_file) if initial_session_file is not None else None
            migrate(Path(old_eval_data_file), Path(new_eval_data_file), initial_session=session)


def _files(path: str) -> list[str]:
    """Return the test files of a folder, sorted; return any other path unchanged.

    Raises:
        ValueError: the folder has none.
    """
    if not Path(path).is_dir():
        return [path]
    files = sorted(
        os.path.join(folder, name)  # noqa: PTH118 - the unchanged spelling: `./tests` stays `./tests`
        for folder, _, names in os.walk(path)
        for name in names
        if name.endswith(TEST_FILES)
    )
    if not files:
        raise setup_error(
            f"{path}: no *{TEST_FILES} in this folder and below; *.evalset.json files are named one by one"
        )
    return files
