"""Evaluations that google-adk's clients request: Proctor runs them, and stores them in its store and in google-adk's files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from proctor.agents.chat_host import Json
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.errors import SetupError
from proctor.runs.evaluate import evaluate
from proctor.runs.load import forget_changed
from proctor.runs.setup.settings import load_settings
from proctor.schema.format.criterion import EFFICIENCY_METRICS, EvalMetric
from proctor.schema.format.result import EvalCaseResult
from proctor.schema.results.run_result import RunResult
from proctor.stores.adk_history import AdkFiles
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.eval_files import open_set, path_of, require_cases
from proctor.web.server.adk.results import read_file
from proctor.web.server.context import ServerContext
from proctor.web.server.security.allowed_models import model_problems

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
    forget_changed(app.folder)
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
    asked = {"user_simulator_config": user_simulator, "live_model_config": live_model}
    return {"criteria": criteria, **{name: value for name, value in asked.items() if value is not None}}


def _require_one_threshold(metric: EvalMetric) -> None:
    stated, own = metric.threshold, getattr(metric.criterion, "threshold", None)
    if None not in (stated, own) and stated != own:
        raise SetupError(
            f"the metric {metric.metric_name!r} has the threshold {stated:g}, and its criterion {own:g}: send only one of the two"
        )
