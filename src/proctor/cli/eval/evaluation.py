"""The work of `proctor eval`: run what was asked for, show what came of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

from proctor import api
from proctor.cli.error_reports import reported_errors, write_nothing_run
from proctor.cli.errors import say
from proctor.cli.eval.against import carry_out_against
from proctor.cli.eval.arguments import Asking, guard_of
from proctor.cli.eval.execution import Execution, Shown, Start
from proctor.cli.options import common
from proctor.cli.project_settings import read_settings
from proctor.cli.streams import stdout_is_ours
from proctor.errors import NothingToRunError, SettingsError
from proctor.runs.failed_attempts import attempts_recorded_by_caller
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.find_config import ADK_RS_SOURCE
from proctor.runs.setup.project_defaults import prepare_process
from proctor.schema.results.run_result import RunResult
from proctor.settings import Settings, load_settings


def run_and_show(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for; nothing was run.
    """
    executions: list[Execution] = []
    with reported_errors(given, lambda: _guard(words, given), lambda: any(one.has_run for one in executions)):
        return _run_and_show(words, given, executions)


def _guard(words: Sequence[str], given: Mapping[str, Any]) -> OutputGuard:
    """Return the guard of the reports, also where the settings cannot be read."""
    try:
        settings = load_settings(Path.cwd())
    except SettingsError:
        settings = Settings()
    return guard_of(words, given, settings)


def _run_and_show(words: Sequence[str], given: Mapping[str, Any], executions: list[Execution]) -> int:
    settings = read_settings(given)
    prepare_process(settings)
    _show_logs(given["log_level"])
    with stdout_is_ours() as stdout:
        asking = Asking(words, given, settings)
        if asking.is_empty:
            return _say_nothing_to_run(f"every case passed in {given['failed']}", asking, stdout)
        shown = Shown(
            asking.outputs,
            asking.details,
            asking.only_different,
            False if common().no_color else None,
            asking.keeping,
        )
        with closing(asking.keeping), attempts_recorded_by_caller():
            try:
                execution = Execution(shown, stdout)
                executions.append(execution)
                if against := asking.options.get("against"):
                    store, margin = asking.keeping.store, asking.options.get("margin")
                    return carry_out_against(execution, _evaluation(asking), store, str(against), margin)
                return execution.carry_out(_evaluation(asking))
            except NothingToRunError as nothing:
                return _say_nothing_to_run(str(nothing), asking, stdout)


def _say_nothing_to_run(why: str, asking: Asking, stdout: TextIO) -> int:
    """Report that nothing is wrong and nothing was run, also in every requested report; return the exit code."""
    note = f"nothing to run: {why}"
    say(f"{note}; the reports are empty" if asking.outputs else note)
    write_nothing_run(asking.outputs, [], stdout, note, is_empty=True)
    return 0


def _evaluation(asking: Asking) -> Start:
    """Return what runs the agents that were asked for."""
    agents, sets = asking.chosen.agents, asking.chosen.sets

    async def evaluate(options: dict[str, Any]) -> Sequence[RunResult]:
        given: dict[str, Any] = {**asking.options, **options, "store": asking.keeping.store}
        if len(agents) == 1:
            runs = [await api.evaluate(agents[0], sets, **given)]
        else:
            runs = await api.evaluate_matrix(agents, sets, **given)
        _say_default_criteria(runs)
        return runs

    return evaluate


def _say_default_criteria(runs: Sequence[RunResult]) -> None:
    """Report which sets were scored by adk-rs's criteria, as its report suggests to its readers."""
    sets = [one for run in runs for one in run.sets if one.config_source == ADK_RS_SOURCE]
    if names := dict.fromkeys(one.path or one.eval_set_id for one in sets):
        say(
            f"no config found for {', '.join(names)}: scored by adk-rs's criteria, tool_trajectory_avg_score 1.0 and "
            "final_response_match_v1 0.5 in every invocation (a test_config.json or --config names others)"
        )


def _show_logs(level: str | None) -> None:
    """Let libraries log to stderr from `level` on; without one, as loud as `-v` says."""
    chosen = level or ("DEBUG" if common().verbose > 1 else None)
    if chosen:
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )
