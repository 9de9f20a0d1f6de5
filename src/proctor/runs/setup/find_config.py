"""The config that scores a set: the given one, one found near the set, or ADK's defaults. Each is validated once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError, SetupProblems
from proctor.runs.argument_types import ConfigLike, lines_of
from proctor.schema.format.config import EvalConfig, TrialsConfig

GIVEN = "the config given"


ADK_RS = "adk-rs"
ADK_RS_CRITERIA = {
    "tool_trajectory_avg_score": 1.0,
    "final_response_match_v1": {"threshold": 0.5, "aggregate": "every_invocation"},
}
"""The criteria of adk-rs's `eval`, which reads no config."""
ADK_RS_SOURCE = "adk-rs's criteria (no test_config.json found)"


class Configs:
    """Find and read the configs of a run; collect errors in `problems` and doubts in `warnings`."""

    def __init__(
        self,
        given: ConfigLike,
        problems: list[SetupError],
        warnings: list[str],
        trials: Mapping[str, Any] | None = None,
        *,
        default: str | None = None,
    ) -> None:
        """Take the config given for all sets, if any, and the options that override each config's `trials`."""
        self._given, self._problems, self.warnings = given, problems, warnings
        self._trials = trials or {}
        self._default = default
        self._read: dict[str, EvalConfig | None] = {}

    def of(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        """Return the config that scores a set, and its source; `None` if it cannot be used, which is one of the problems."""
        config, origin = self._of(set_path)
        return self._with_trials(config) if config and self._trials else config, origin

    def _with_trials(self, config: EvalConfig) -> EvalConfig | None:
        """Override the config's `trials` with the options; the result is validated by the same rules."""
        stated = config.trials.model_dump(exclude_none=True) if config.trials is not None else {}
        try:
            trials = TrialsConfig.model_validate({**stated, **self._trials})
        except ValidationError as error:
            self._problems += [
                SetupError(f"trials: {line.removeprefix('document: ')}") for line in lines_of(error)
            ]
            return None
        return config.model_copy(update={"trials": trials})

    def _of(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        given = self._given
        if isinstance(given, Mapping | EvalConfig):
            if GIVEN not in self._read:
                self._read[GIVEN] = self._checked(given)
            return self._read[GIVEN], GIVEN
        try:
            path = Path(given) if given is not None else _config_beside(set_path)
        except SetupError as problem:
            self._problems.append(problem)
            return None, ""
        if path is None and self._default == ADK_RS:
            return EvalConfig.model_validate({"criteria": ADK_RS_CRITERIA}), ADK_RS_SOURCE
        if path is None:
            return EvalConfig.default(), "ADK's defaults (no test_config.json found)"
        return self._from_file(path), str(path)

    def _from_file(self, path: Path) -> EvalConfig | None:
        from proctor.files.eval_sets.load import load_config_strictly
        from proctor.files.eval_sets.strictness import refusal_of

        key = str(path)
        if key not in self._read:
            try:
                self._read[key], doubts, doubled = load_config_strictly(path)
                self.warnings += [doubt.without_severity for doubt in doubts]
                if doubled:
                    self._problems.append(refusal_of(doubled))
            except SetupError as problem:
                self._read[key] = None
                self._problems.append(problem)
        return self._read[key]

    def _checked(self, given: Mapping[str, Any] | EvalConfig) -> EvalConfig | None:
        from proctor.files.eval_sets.config_warnings import config_findings, misspelled_keys

        try:
            config = EvalConfig.model_validate(given)
        except ValidationError as error:
            self._problems += [SetupError(f"{GIVEN}: {line}") for line in lines_of(error)]
            return None
        slips = misspelled_keys(config)
        self._problems += [SetupError(f"{GIVEN}: {slip.one_line}") for slip in slips]
        if not slips:
            self.warnings += [f"{GIVEN}: {doubt.one_line}" for doubt in config_findings(config, dict(given))]
        return config


def trials_asked(options: RunOptions) -> dict[str, object]:
    """Return the options that override the `trials` of a config; the number of trials only together with another option."""
    rule: dict[str, object] = {
        "min_pass_rate": options.min_pass_rate,
        "pass_k": options.pass_k,
        "confidence": options.confidence,
        "until_decided": (options.until_decided and options.against is None) or None,
    }
    changed = {name: value for name, value in rule.items() if value is not None}
    return {**changed, "num_runs": options.num_runs} if changed and options.num_runs is not None else changed


def read_config(given: ConfigLike) -> tuple[EvalConfig, str, list[str]]:
    """Return the given config, its source and its warnings.

    Raises:
        SetupProblems: the errors in the config.
    """
    problems: list[SetupError] = []
    configs = Configs(given, problems, [])
    config, source = configs.of(None)
    if config is None or problems:
        raise SetupProblems(problems)
    return config, source, configs.warnings


def _config_beside(set_path: Path | None) -> Path | None:
    from proctor.files.eval_sets.selectors import find_config

    return find_config(set_path) if set_path is not None else None
