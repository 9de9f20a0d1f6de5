"""Results kept as documents, in the text that google-adk writes and reads."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from typing import Any

from proctor.compat.adk.argument_errors import a_model, set_up, setup_error, unexpected_argument
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.eval_set_results_manager import EvalSetResultsManager
from proctor.compat.adk.results import case_results_of
from proctor.compat.adk.sync_or_async import Evaluation
from proctor.files.eval_sets.documents import read_json_document
from proctor.files.eval_sets.load import read_results
from proctor.files.eval_sets.selectors import require_path_segment
from proctor.schema.format.adk_results import SUFFIX, ResultHeader, app_name_of
from proctor.schema.format.result import EvalCaseResult, EvalSetResult
from proctor.schema.results.run_result import RunResult
from proctor.stores.object_store import Documents


class Saved:
    """The labels of what was written; may be awaited, as the documents do, and need not be."""

    def __init__(self, labels: list[str]) -> None:
        self.labels = labels

    def __await__(self) -> Generator[object, object, list[str]]:
        yield from ()
        return self.labels


class ResultsInDocuments(EvalSetResultsManager):
    """Results as `<folder of the app>/<name>.evalset_result.json`."""

    def __init__(self, documents: Documents, folder: str) -> None:
        """Take where documents are, and where those of an app are there (with `{app_name}`)."""
        self._documents, self._folder = documents, folder

    def save_eval_set_result(
        self,
        app_name: Any,
        eval_set_id: str | None = None,
        eval_case_results: Iterable[EvalCaseResult | Mapping[str, Any]] | None = None,
    ) -> Saved:
        """Keep the results of an eval set: `save_eval_set_result(app_name, eval_set_id, eval_case_results)`.

        Or those of all sets of a run: `save_eval_set_result(result)`, with what `AgentEvaluator` returned (an
        AssertionError of it has it as `result`), or an `EvalSetResult`.

        Raises:
            ValueError: it is neither, a name cannot be part of a path, or the result cannot be written.
        """
        if isinstance(app_name, str):
            if eval_set_id is None or eval_case_results is None:
                raise setup_error("save_eval_set_result: expected (app_name, eval_set_id, eval_case_results)")
            if not isinstance(eval_case_results, Iterable):
                raise unexpected_argument("eval_case_results", "a list of EvalCaseResult", eval_case_results)
            return Saved([self._save(app_name, _result(app_name, eval_set_id, eval_case_results))])
        result = app_name.result if isinstance(app_name, Evaluation) else app_name
        if isinstance(result, RunResult):
            app = app_name_of(result)
            return Saved([self._save(app, one) for one in _results(app, result)])
        if not isinstance(result, EvalSetResult):
            kind = type(result).__name__
            raise setup_error(
                f"save_eval_set_result: expected the result of an evaluation, or (app_name, eval_set_id, "
                f"eval_case_results); got {kind}"
            )
        return Saved([self._save(_app_of(result), result)])

    def get_eval_set_result(self, app_name: str, eval_set_result_id: str) -> EvalSetResult:
        """Return a result. Raises NotFoundError: there is none of that id; ValueError: the file is broken."""
        with set_up():
            folder = self._app(app_name)
            path = f"{folder}/{require_path_segment(eval_set_result_id, 'the id of the result')}{SUFFIX}"
            data = self._documents.read(path)
            if data is not None:
                return read_results(read_json_document(data, self._documents.label(path)))
        raise NotFoundError(f"no result {eval_set_result_id!r} of the app {app_name!r}")

    def list_eval_set_results(self, app_name: str) -> list[str]:
        """Return the ids of an app's results, sorted."""
        with set_up():
            names = self._documents.names(self._app(app_name)) or []
        return [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]

    def _save(self, app_name: str, result: EvalSetResult) -> str:
        with set_up():
            path = f"{self._app(app_name)}/{result.eval_set_result_name}{SUFFIX}"
            self._documents.save(path, result, full=True)
        return self._documents.label(path)

    def _app(self, app_name: str) -> str:
        return self._folder.format(app_name=require_path_segment(app_name, "the app name"))


def _result(
    app_name: str, eval_set_id: str, results: Iterable[EvalCaseResult | Mapping[str, Any]]
) -> EvalSetResult:
    header = ResultHeader(app_name, eval_set_id, time.time())
    return EvalSetResult(
        eval_set_result_id=header.result_id,
        eval_set_result_name=header.name,
        eval_set_id=eval_set_id,
        eval_case_results=[a_model(EvalCaseResult, one, "eval_case_results") for one in results],
        creation_timestamp=header.timestamp,
    )


def _results(app_name: str, run: RunResult) -> Iterable[EvalSetResult]:
    criteria = {one.eval_set_id: one.criteria for one in run.sets}
    by_set: dict[str, list[EvalCaseResult]] = {}
    for case in run.cases:
        results = case_results_of(case, None, criteria.get(case.eval_set_id))
        by_set.setdefault(case.eval_set_id, []).extend(results)
    return [_result(app_name, *one) for one in by_set.items()]


def _app_of(result: EvalSetResult) -> str:
    """The app whose result this is: its id begins with it."""
    app, separator, _ = result.eval_set_result_id.partition(f"_{result.eval_set_id}_")
    return app if separator and app else "agent"
