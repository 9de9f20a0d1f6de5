"""The work of `proctor eval`: run what was asked for, show what came of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from proctor import api
from proctor.api.project import prepare_process
from proctor.cli.against import carry_out_against
from proctor.cli.asking import Asking
from proctor.cli.common import common
from proctor.cli.execution import Execution, Shown, Start
from proctor.cli.failures import say
from proctor.cli.process import stdout_is_ours
from proctor.errors import NothingToRunError
from proctor.schema.verdict import RunResult
from proctor.settings import load_settings

_NO_REPORT = "; no report is written"


def run_and_show(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for; nothing was run.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    _show_logs(given["log_level"])
    with stdout_is_ours() as stdout:
        asking = Asking(words, given, settings)
        if asking.is_empty:
            say(f"nothing to run: every case passed in {given['failed']}")
            return 0
        shown = Shown(
            asking.outputs,
            asking.details,
            asking.only_different,
            False if common().no_color else None,
            asking.keeping,
        )
        with closing(asking.keeping):
            try:
                execution = Execution(shown, stdout)
                if against := asking.options.get("against"):
                    store, margin = asking.keeping.store, asking.options.get("margin")
                    return carry_out_against(execution, _evaluation(asking), store, str(against), margin)
                return execution.carry_out(_evaluation(asking))
            except NothingToRunError as nothing:
                say(f"nothing to run: {nothing}{_NO_REPORT if asking.outputs else ''}")
                return 0


def _evaluation(asking: Asking) -> Start:
    """Return what runs the agents that were asked for."""
    agents, sets = asking.chosen.agents, asking.chosen.sets

    async def evaluate(options: dict[str, Any]) -> Sequence[RunResult]:
        given: dict[str, Any] = {**asking.options, **options, "store": asking.keeping.store}
        if len(agents) == 1:
            return [await api.evaluate(agents[0], sets, **given)]
        return await api.evaluate_matrix(agents, sets, **given)

    return evaluate


def _show_logs(level: str | None) -> None:
    """Let libraries log to stderr from `level` on; without one, as loud as `-v` says."""
    chosen = level or ("DEBUG" if common().verbose > 1 else None)
    if chosen:
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )
