"""Evaluations that google-adk's clients request: Proctor runs them, and stores them in its store and in google-adk's files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.agents.chat_host import Json
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.errors import EvalFileError, SetupError
from proctor.files.eval_sets.documents import RESULT_LIMIT, read_document
from proctor.files.eval_sets.load import read_results
from proctor.files.eval_sets.selectors import is_file, require_path_segment
from proctor.runs.evaluate import evaluate
from proctor.runs.load import forget_outdated_imports
from proctor.runs.setup.settings import load_settings
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.adk_results import HISTORY, SUFFIX
from proctor.schema.format.criterion import EFFICIENCY_METRICS, EvalMetric
from proctor.schema.format.result import EvalCaseResult, EvalSetResult
from proctor.schema.results.run_result import RunResult
from proctor.stores.adk_history import AdkFiles
from proctor.web.server.adk.app_state import AdkState
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.eval_files import open_set, path_of, require_cases
from proctor.web.server.adk.wire import require_found, stored_session_json, wire
from proctor.web.server.context import ServerContext
from proctor.web.server.security.allowed_names import model_problems

_ALWAYS = frozenset(name.value for name in EFFICIENCY_METRICS)
_AT_ONCE = 4
"""Concurrent trials, as in google-adk's server."""


async def run_evaluation(
    context: ServerContext, app: App, eval_set_id: str, eval_ids: Sequence[str], config: Json
) -> list[EvalCaseResult]:
    """Run cases of a set (by default all) with the agent's present files, and return the result of each.

    Raises:
        SetupError: all problems of the request; nothing was run.
    """
    settings = load_settings(context.root)
    if problems := model_problems(config, settings):
        raise SetupError("; ".join(problems))
    source = open_set(app, eval_set_id)
    require_cases(source, eval_ids)
    path = str(path_of(app, eval_set_id))
    only = {source.eval_set_id: list(dict.fromkeys(eval_ids))} if eval_ids else None
    forget_outdated_imports(app.folder)
    with context.writing() as store, named_by_project():
        run = await evaluate(
            app.reference,
            path,
            config=config,
            only=only,
            store=store,
            explain="all",
            concurrency=_AT_ONCE,
            allow_unknown_keys=settings.options.get("allow_unknown_keys", False),
            warnings_as_errors=settings.options.get("warnings_as_errors", False),
        )
        return _write_results(run, app)


def _write_results(run: RunResult, app: App) -> list[EvalCaseResult]:
    """Write the results to google-adk's result files, and read them back."""
    written = AdkFiles(app.folder.parent, app.folder.name).write(run, timestamp=_moment(run))
    return [case for path in written for case in read_file(path).eval_case_results]


def _moment(run: RunResult) -> float:
    """Return the start of the run, never a whole second, because the page writes such a number differently and finds no result."""
    began = round(run.started_at or time.time(), 6)
    return began if began % 1 else began + 1e-6


def config_of_request(
    metrics: Sequence[EvalMetric], user_simulator: Json | None, live_model: Json | None
) -> dict[str, Any]:
    """Return the config for the requested metrics.

    Raises:
        SetupError: there is no metric, or one has neither a criterion nor a threshold, occurs twice, or names code.
    """
    criteria: dict[str, Any] = {}
    for metric in metrics:
        if metric.custom_function_path:
            raise SetupError(
                f"the metric {metric.metric_name!r} names code (customFunctionPath): only a config file may name code, "
                "never a request. Run it with `proctor eval --config FILE`."
            )
        if metric.metric_name in criteria:
            raise SetupError(f"the metric {metric.metric_name!r} occurs twice: send it once")
        if metric.criterion is not None:
            _require_one_threshold(metric)
            criteria[metric.metric_name] = metric.criterion.model_dump(mode="json", exclude_unset=True)
        elif metric.threshold is not None:
            criteria[metric.metric_name] = metric.threshold
        elif metric.metric_name not in _ALWAYS:
            raise SetupError(f"the metric {metric.metric_name!r} has neither a criterion nor a threshold")
    if not criteria:
        raise SetupError(
            "the request has no deciding metric, so every case would pass whichever way the agent behaves"
        )
    options = {"user_simulator_config": user_simulator, "live_model_config": live_model}
    return {"criteria": criteria, **{name: value for name, value in options.items() if value is not None}}


def _require_one_threshold(metric: EvalMetric) -> None:
    threshold, own = metric.threshold, getattr(metric.criterion, "threshold", None)
    if None not in (threshold, own) and threshold != own:
        raise SetupError(
            f"the metric {metric.metric_name!r} has the threshold {threshold:g}, and its criterion {own:g}: send only one of the two"
        )


# --- google-adk's result files: `AGENT/.adk/eval_history/*.evalset_result.json` ---------------------------------------


def result_ids(app: App) -> list[str]:
    """Return the ids of an app's results, oldest first."""
    return [_id_of(path) for path in _files(app)]


def read_result(app: App, result_id: str) -> EvalSetResult | None:
    """Return a result; `None` if there is none with that id.

    Raises:
        SetupError: the id is invalid.
        EvalFileError: the file cannot be read, or is not a result.
    """
    require_path_segment(result_id, "the result id")
    path = _folder(app) / f"{result_id}{SUFFIX}"
    return read_file(path) if is_file(path) else None


def kept_session(app: App, user_id: str | None, session_id: str) -> Json | None:
    """Return the session of an evaluation from the result of its case (`user_id` `None`: any user); `None` if there is none."""
    needle = session_id.encode()
    if not needle:
        return None
    for path in reversed(_files(app)):
        if needle not in _bytes(path):
            continue
        for case in _cases(path):
            details = case.session_details
            is_of_user = user_id is None or (case.user_id or "") == user_id
            if case.session_id == session_id and is_of_user and details is not None:
                return stored_session_json(details.model_dump(mode="json"), app.name)
    return None


async def find_session(adk: AdkState, app_name: str, user_id: str, session_id: str) -> Json:
    """Return a session of an app, or of one of its evaluations.

    Raises:
        HTTPException: 404.
    """
    session: Json | None = await adk.ask(app_name, "get", user_id, session_id)
    return require_found(session or kept_session(adk.app(app_name), user_id, session_id), "Session not found")


def _cases(path: Path) -> list[EvalCaseResult]:
    """Return the cases of a result file; an unreadable file has none, so that it hides no other."""
    try:
        return read_file(path).eval_case_results
    except EvalFileError:
        return []


def result_json(result: EvalSetResult, app: App) -> Json:
    """Return a result as JSON for clients."""
    document = wire(result)
    for row, case in zip(document.get("evalCaseResults", ()), result.eval_case_results, strict=True):
        _explain(row)
        if case.session_details is not None:
            row["sessionDetails"] = stored_session_json(
                case.session_details.model_dump(mode="json"), app.name
            )
    return document


def run_result_json(case: EvalCaseResult) -> Json:
    """Return a result for the response to an evaluation: without the session."""
    document = wire(case.model_copy(update={"session_details": None}))
    _explain(document)
    document.pop("proctor", None)
    return {**document, "evalMetricResults": []}


def _explain(case: Json) -> None:
    """Add the reason of each metric as `explanation`, which google-adk's page shows and its files do not contain."""
    extras = case.get("proctor")
    ours = extras if isinstance(extras, dict) else {}
    case_failure = ours.get("failure")
    for result in case.get("overallEvalMetricResults", ()):
        of_metric = (ours.get("metrics") or {}).get(result["metricName"]) or {}
        failure = of_metric.get("failure") or (case_failure if result.get("score") is None else None)
        why = of_metric.get("reason") or (of_metric.get("case") or {}).get("reason") or _cause(failure)
        if why:
            result["details"]["explanation"] = why


def _cause(failure: object) -> str:
    try:
        return Failure.model_validate(failure).cause if failure else ""
    except ValidationError:
        return ""  # the file was edited


def _folder(app: App) -> Path:
    return app.folder.joinpath(*HISTORY)


def _files(app: App) -> list[Path]:
    """Return the result files in the order in which they were written."""
    files = []
    for path in _folder(app).glob(f"*{SUFFIX}"):
        try:
            files.append((path.stat().st_mtime_ns, path.name, path))
        except OSError:  # it was removed
            continue
    return [path for _, _, path in sorted(files)]


def _id_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_file(path: Path) -> EvalSetResult:
    """Read a result file. Raises EvalFileError: it cannot be read, or is not a result."""
    try:
        return read_results(read_document(path, limit=RESULT_LIMIT))
    except OSError as error:
        raise EvalFileError(f"{path}: cannot be read: {error.strerror or error}") from error
