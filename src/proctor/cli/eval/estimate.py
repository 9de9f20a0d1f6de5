"""The work of `proctor eval --estimate`: what a run would take; nothing is run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.cli.errors import say
from proctor.cli.eval.arguments import Asking, store_named
from proctor.cli.eval.stores import NOWHERE
from proctor.cli.streams import stdout_is_ours
from proctor.errors import NothingToRunError
from proctor.reports.content.estimate import write_estimate, write_json
from proctor.runs.estimate import estimate_sync
from proctor.runs.setup.project_defaults import prepare_process
from proctor.settings import load_settings


def show_estimate(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Show what a run would take, agent by agent, and return the exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    as_json = given["format_"] == "json"
    store = store_named(given["stores"])
    with stdout_is_ours() as stdout:
        # no store is made for it, and no report
        unkept = {**given, "stores": (NOWHERE,), "reports": (), "format_": None}
        asking = Asking(words, unkept, settings, earlier=store)
        if asking.is_empty:
            say(f"nothing to run: every case passed in {given['failed']}")
            return 0
        for agent in asking.chosen.agents:
            try:
                found = estimate_sync(agent, asking.chosen.sets, **{**asking.options, "store": store})
            except NothingToRunError as nothing:
                say(f"nothing to run: {nothing}")
                continue
            if as_json:
                write_json(found, stdout)
                continue
            if len(asking.chosen.agents) > 1:
                stdout.write(f"{agent}\n")
            write_estimate(found, stdout)
    sys.stdout.flush()
    return 0
