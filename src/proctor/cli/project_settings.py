"""Read the project's settings for a command, with a warning where their file or their table is misspelled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.cli.errors import say
from proctor.common.settings_typos import misspelled_settings
from proctor.errors import SetupProblems
from proctor.runs.setup.strict_warnings import errors_from
from proctor.settings import Settings, load_settings


def read_settings(given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of the working folder's project; `given` are the options of the command.

    Raises:
        SettingsError: the settings cannot be read.
        SetupProblems: settings are misspelled, and `warnings_as_errors` is set.
    """
    settings = load_settings(Path.cwd())
    warnings = misspelled_settings(Path.cwd())
    if warnings and ((given or {}).get("warnings_as_errors") or settings.warnings_as_errors):
        raise SetupProblems(errors_from(warnings))
    for warning in warnings:
        say(f"warning: {warning}")
    return settings
