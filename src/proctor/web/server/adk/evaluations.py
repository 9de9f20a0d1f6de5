"""Evaluations that google-adk's clients ask for: run by Proctor's engine, kept in its store and as google-adk keeps them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from proctor.agents.chat_host import Json
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.errors import SetupError
from proctor.runs.evaluate import evaluate
from proctor.runs.load import forget_changed
from proctor.runs.settings import load_settings
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
"""Trials at once, as google-adk's server has it."""


async def run_evaluation(
    context: ServerContext, app: App, eval_set_id: str, eval_ids: Sequence[str], config: Json
) -> list[EvalCaseResult]:
    """Run cases of a set (none named: all) with the agent as its files are now, and return the result of each.

    Raises:
        SetupError: all that is wrong with what was asked for; nothing was run.
    """
    settings = load_settings(context.root)
    if wrong := model_problems(config, settings):
        raise SetupError("; ".join(wrong))
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
    """Write the results where google-adk's tools look for them, and read them back."""
    written = AdkFiles(app.folder.parent, app.folder.name).write(run, timestamp=_moment(run))
    return [case for path in written for case in read_file(path).eval_case_results]


def _moment(run: RunResult) -> float:
    """When the run began, never a whole second: the page writes such a number in another way, and finds no result."""
    began = round(run.started_at or time.time(), 6)
    return began if began % 1 else began + 1e-6


def config_of_request(
    metrics: Sequence[EvalMetric], user_simulator: Json | None, live_model: Json | None
) -> dict[str, Any]:
    """Return the config that asks for these metrics.

    Raises:
        SetupError: there is none, one has neither a criterion nor a threshold, comes twice, or names code.
    """
    criteria: dict[str, Any] = {}
    for metric in metrics:
        if metric.custom_function_path:
            raise SetupError(
                f"the metric {metric.metric_name!r} names code (customFunctionPath): code is taken from a config in a file "
                "only, never from a request. Run it with `proctor eval --config FILE`."
            )
        if metric.metric_name in criteria:
            raise SetupError(
                f"the metric {metric.metric_name!r} is asked for twice: which of the two counts?"
            )
        if metric.criterion is not None:
            _require_one_threshold(metric)
            criteria[metric.metric_name] = metric.criterion.model_dump(mode="json", exclude_unset=True)
        elif metric.threshold is not None:
            criteria[metric.metric_name] = metric.threshold
        elif metric.metric_name not in _ALWAYS:
            raise SetupError(f"the metric {metric.metric_name!r} has neither a criterion nor a threshold")
    if not criteria:
        raise SetupError(
            "no metric that decides is asked for, so every case would pass whatever the agent does"
        )
    asked = {"user_simulator_config": user_simulator, "live_model_config": live_model}
    return {"criteria": criteria, **{name: value for name, value in asked.items() if value is not None}}


def _require_one_threshold(metric: EvalMetric) -> None:
    stated, own = metric.threshold, getattr(metric.criterion, "threshold", None)
    if None not in (stated, own) and stated != own:
        raise SetupError(
            f"the metric {metric.metric_name!r} has the threshold {stated:g}, and its criterion {own:g}: which of the two counts?"
        )
