"""The config that judges a set: given, found beside the set, or ADK's defaults; checked whole, each one once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.api.forms import ConfigLike, lines_of
from proctor.errors import SetupError, SetupProblems
from proctor.schema.config import EvalConfig

_GIVEN = "the config given"


class Configs:
    """Finds and reads the configs of a run; what is wrong or doubtful goes to `problems` and `warnings`."""

    def __init__(self, given: ConfigLike, problems: list[SetupError], warnings: list[str]) -> None:
        """Take the config that was given for all sets, if one was."""
        self._given, self._problems, self.warnings = given, problems, warnings
        self._read: dict[str, EvalConfig | None] = {}

    def of(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        """The config that judges a set, and where it came from; `None` when that is among the problems."""
        given = self._given
        if isinstance(given, Mapping | EvalConfig):
            if _GIVEN not in self._read:
                self._read[_GIVEN] = self._checked(given)
            return self._read[_GIVEN], _GIVEN
        try:
            path = Path(given) if given is not None else _config_beside(set_path)
        except SetupError as problem:
            self._problems.append(problem)
            return None, ""
        if path is None:
            return EvalConfig.default(), "ADK's defaults (no test_config.json found)"
        return self._from_file(path), str(path)

    def _from_file(self, path: Path) -> EvalConfig | None:
        from proctor.files.load import load_config

        key = str(path)
        if key not in self._read:
            try:
                self._read[key], doubts = load_config(path)
                self.warnings += [doubt.said for doubt in doubts]
            except SetupError as problem:
                self._read[key] = None
                self._problems.append(problem)
        return self._read[key]

    def _checked(self, given: Mapping[str, Any] | EvalConfig) -> EvalConfig | None:
        from proctor.files.configs import config_findings, misspelled_keys

        try:
            config = EvalConfig.model_validate(given)
        except ValidationError as error:
            self._problems += [SetupError(f"{_GIVEN}: {line}") for line in lines_of(error)]
            return None
        slips = misspelled_keys(config)
        self._problems += [SetupError(f"{_GIVEN}: {slip.said}") for slip in slips]
        if not slips:
            self.warnings += [f"{_GIVEN}: {doubt.said}" for doubt in config_findings(config, dict(given))]
        return config


def read_config(given: ConfigLike) -> tuple[EvalConfig, str, list[str]]:
    """Return the config that was given, where it came from, and what is doubtful about it.

    Raises:
        SetupProblems: what is wrong with it.
    """
    problems: list[SetupError] = []
    configs = Configs(given, problems, [])
    config, source = configs.of(None)
    if config is None or problems:
        raise SetupProblems(problems)
    return config, source, configs.warnings


def _config_beside(set_path: Path | None) -> Path | None:
    from proctor.files.find import find_config

    return find_config(set_path) if set_path is not None else None
