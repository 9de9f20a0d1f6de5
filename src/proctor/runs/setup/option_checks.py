"""Options of a kind that no run can take: they are refused, where Python would take `"no"` for true."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from proctor.errors import SetupError
from proctor.runs.options import EvaluateOptions
from proctor.schema.format.config import EvalConfig

_FLAGS = (
    "no_judge", "fail_fast", "keep_going", "allow_duplicate_ids", "allow_unasserted", "isolate", "until_decided",
    "warnings_as_errors", "allow_unknown_keys",
)  # fmt: skip
_METHODS = {
    "progress": ("run_started", "trial_finished", "case_finished", "run_finished"),
    "stop": ("listen",),
}


def odd_types(options: EvaluateOptions) -> list[SetupError]:
    """Return what is wrong with the kinds of options; `None` is the default of each."""
    given: Mapping[str, Any] = {name: value for name, value in options.items() if value is not None}
    found = [
        f"{name} must be True or False, got {given[name]!r}"
        for name in _FLAGS
        if name in given and not isinstance(given[name], bool)
    ]
    config = given.get("config")
    if config is not None and not isinstance(config, str | os.PathLike | Mapping | EvalConfig):
        found.append(f"config: expected a path, an EvalConfig or a dict, got {type(config).__name__}")
    for name, methods in _METHODS.items():
        missing = [one for one in methods if name in given and not callable(getattr(given[name], one, None))]
        if missing:
            found.append(
                f"{name}: {type(given[name]).__name__} has no {', '.join(f'`{one}`' for one in missing)}"
            )
    return [SetupError(message) for message in found]


def problems_of_deciding(options: EvaluateOptions) -> list[SetupError]:
    """Return what is wrong with what is to be decided."""
    against, margin = options.get("against"), options.get("margin")
    found = []
    if against is not None and not options.get("until_decided"):
        found.append(
            SetupError(
                f"against {against} says what is to be decided: give until_decided (--until-decided), too. To compare a "
                "run that is there, `proctor compare`"
            )
        )
    if margin is not None and against is None:
        found.append(SetupError("margin is that of a comparison: give against (--against RUN), too"))
    if margin is not None and not 0 < margin < 1:
        found.append(SetupError(f"margin must be above 0 and below 1, got {margin}"))
    return found
