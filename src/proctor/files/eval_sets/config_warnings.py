"""What is doubtful in an eval config that can be read: the things that would silently change what is judged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.common.registry import METRICS
from proctor.files.eval_sets.detect_format import CONFIG_KEYS
from proctor.files.text.validation_messages import Finding, explain, near_key
from proctor.schema.format.config import EvalConfig, LlmAudioUserSimulatorConfig, TrialsConfig
from proctor.schema.format.criterion import (
    EFFICIENCY_METRICS,
    BaseCriterion,
    HallucinationsCriterion,
    LlmAsAJudgeCriterion,
    LlmBackedUserSimulatorCriterion,
    PrebuiltMetrics,
    RubricsBasedCriterion,
    ToolTrajectoryCriterion,
)

_KEYS = (*CONFIG_KEYS, "trials")  # the last is Proctor's own, and does not make a document a config
# What Proctor adds to every criterion.
_OWN_OPTIONS = ("gate", "applies_to", "aggregate", "compat")

_CRITERIA: dict[str, type[BaseCriterion]] = {
    "tool_trajectory_avg_score": ToolTrajectoryCriterion,
    "final_response_match_v2": LlmAsAJudgeCriterion,
    "rubric_based_final_response_quality_v1": RubricsBasedCriterion,
    "rubric_based_tool_use_quality_v1": RubricsBasedCriterion,
    "rubric_based_multi_turn_trajectory_quality_v1": RubricsBasedCriterion,
    "hallucinations_v1": HallucinationsCriterion,
    "per_turn_user_simulator_quality_v1": LlmBackedUserSimulatorCriterion,
}
_PREBUILT = tuple(metric.value for metric in PrebuiltMetrics)
_RANGES = {"response_evaluation_score": (1.0, 5.0)}
_SAID = 100  # unknown keys of a document that are said
_COMMENT_KEYS = ("_comment", "_documentation", "description", "$schema")


def config_findings(config: EvalConfig, value: dict[str, Any]) -> list[Finding]:
    """All doubts about a config; `value` is its document."""
    return [
        *_unknown_keys(config, value),
        *_not_supported(config, value),
        *_criteria(config, value),
    ]


def misspelled_keys(config: EvalConfig) -> list[Finding]:
    """Unknown keys that are nearly known ones, or metrics: what they say would not be heard, so no config to run with."""
    near = {key: near_key(key, _KEYS) for key in config.model_extra or ()}
    slips = [
        Finding((key,), "unknown key; nothing reads it", f"did you mean `{meant}`?", at_key=True)
        for key, meant in near.items()
        if meant and key not in _COMMENT_KEYS
    ]
    beside = [
        Finding((key,), "a metric beside `criteria`; nothing reads it", "put it into `criteria`", at_key=True)
        for key in config.model_extra or ()
        if key in _PREBUILT
    ]
    return [*slips, *beside, *_misspelled_trials(config), *_misspelled_user(config)]


def _misspelled_trials(config: EvalConfig) -> Iterator[Finding]:
    """Every key in `trials` that nothing reads: the rest of the config is ADK's, this is ours alone."""
    known = tuple(TrialsConfig.model_fields)
    for key in islice((config.trials and config.trials.model_extra) or (), _SAID):
        if key not in _COMMENT_KEYS:
            near = near_key(key, known)
            hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known)}"
            yield Finding(("trials", key), "unknown key; nothing reads it", hint, at_key=True)


def _misspelled_user(config: EvalConfig) -> Iterator[Finding]:
    """Keys of `user_simulator_config` that are nearly known ones: who misspells `faults` does not get what was meant."""
    simulator = config.user_simulator_config
    if simulator is None:
        return
    for key in islice(simulator.model_extra or (), _SAID):
        if key not in _COMMENT_KEYS and (near := near_key(key, tuple(type(simulator).model_fields))):
            path = ("user_simulator_config", key)
            yield Finding(path, "unknown key; nothing reads it", f"did you mean `{near}`?", at_key=True)


def _unknown_keys(config: EvalConfig, value: dict[str, Any]) -> Iterator[Finding]:
    for key in islice(config.model_extra or (), _SAID):
        if key in (*_COMMENT_KEYS, *_PREBUILT) or near_key(key, _KEYS):
            continue
        yield Finding((key,), "unknown key; nothing reads it", _other_config(key), at_key=True)
    if not config.criteria:
        stated = next((key for key in value if to_snake(key) == "criteria"), None)
        path = (stated,) if stated else ()
        yield Finding(
            path, "no criteria: this config judges nothing", "name at least one metric in `criteria`"
        )


def _other_config(key: str) -> str:
    if to_snake(key) in TrialsConfig.model_fields:
        return "put it into `trials`"
    if to_snake(key) == "compat":
        return "say so when you run: --compat"
    if to_snake(key) in {"metrics", "eval_metrics", "evaluators", "evaluation_criteria", "global_criteria"}:
        return "a config of this format names its metrics in `criteria`"
    return ""


def _not_supported(config: EvalConfig, value: dict[str, Any]) -> Iterator[Finding]:
    if config.live_model_config is not None:
        yield Finding(
            (_key(value, "live_model_config"),),
            "live mode is not supported: a run with this config is refused",
            "remove `live_model_config` to run without live streaming",
            at_key=True,
        )
    if isinstance(config.user_simulator_config, LlmAudioUserSimulatorConfig):
        yield Finding(
            (_key(value, "user_simulator_config"), "type"),
            "users that speak (llm_audio) are not supported: a scenario run with this config is refused",
            "use `llm_backed`",
        )


def _key(value: dict[str, Any], name: str) -> str:
    return next((key for key in (name, to_camel(name)) if key in value), name)


def _criteria(config: EvalConfig, value: dict[str, Any]) -> Iterator[Finding]:
    custom = set(config.custom_metrics or ())
    stated = value.get("criteria", {})
    for name, criterion in islice(config.criteria.items(), _SAID):
        path = ("criteria", name)
        if name not in custom and name not in METRICS:
            near = near_key(name, METRICS.names())
            hint = (
                f"did you mean `{near}`?"
                if near
                else "a metric of your own is registered or in `custom_metrics`"
            )
            yield Finding(path, f"{name!r} is not a metric that is known here", hint, at_key=True)
        elif name in {metric.value for metric in EFFICIENCY_METRICS} and name not in custom:
            yield Finding(
                path, "this metric is always reported and takes no threshold", "ADK cannot evaluate it so"
            )
        else:
            yield from _threshold(path, criterion)
        if isinstance(criterion, BaseCriterion):
            yield from _options(path, name, criterion, stated.get(name))
    for name in sorted(custom - config.criteria.keys()):
        where = (_key(value, "custom_metrics"), name)
        yield Finding(where, "this metric is not in `criteria`: it is not computed", "", at_key=True)


def _threshold(path: tuple[str, str], criterion: float | BaseCriterion) -> Iterator[Finding]:
    threshold = criterion.threshold if isinstance(criterion, BaseCriterion) else criterion
    low, high = _RANGES.get(path[1], (0.0, 1.0))
    if path[1] in _PREBUILT and not low <= threshold <= high:
        never = "pass" if threshold > high else "fail"
        yield Finding(
            path, f"the threshold {threshold:g} can never {never}: scores are from {low:g} to {high:g}"
        )


def _options(path: tuple[str, str], name: str, criterion: BaseCriterion, stated: Any) -> Iterator[Finding]:
    model = _CRITERIA.get(name, BaseCriterion)
    known = [*model.model_fields, *_OWN_OPTIONS]
    for key in islice(criterion.model_extra or (), _SAID):
        near = near_key(key, known)
        if name in _CRITERIA and near and to_snake(key) not in known:
            yield Finding((*path, key), "unknown option", f"did you mean `{near}`?", at_key=True)
    try:
        model.model_validate(stated)
    except ValidationError as error:
        yield from explain(error, stated, path)
