"""Read the other files of the format: configs with their warnings, scenarios, session inputs, results."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.common.registry import METRICS
from proctor.files.eval_sets.documents import (
    CONFIG_KEYS,
    RESULT_LIMIT,
    Document,
    DocumentKind,
    kind,
    not_a,
    problems_at,
    read_document,
)
from proctor.files.keys.key_findings import duplicate_keys_in_document
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import DocumentFinding, findings_of_error, near_key
from proctor.schema.format.case import ConversationScenarios, SessionInput
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
from proctor.schema.format.wire_model import WireModel

if TYPE_CHECKING:
    from proctor.schema.format.result import EvalSetResult


_Model = TypeVar("_Model", bound=WireModel)


def load_config(path: str | Path, *, label: str = "") -> tuple[EvalConfig, list[Problem]]:
    """Read a `test_config.json`; with its warnings: unknown keys, keys given twice, what is not supported.

    Raises:
        EvalFileError: it is not a config, or one of its keys is misspelled; with every problem and its position.
    """
    config, warnings, duplicates = load_config_strictly(path, label=label)
    return config, [*duplicates, *warnings]


def load_config_strictly(
    path: str | Path, *, label: str = ""
) -> tuple[EvalConfig, list[Problem], list[Problem]]:
    """As `load_config`, with the duplicate keys (as warnings) as a separate list."""
    document = read_document(Path(path), label)
    config, warnings = read_config(document)
    duplicates = duplicate_keys_in_document(document, is_config=True).of_format
    return config, [warning for warning in warnings if warning not in duplicates], duplicates


def read_config(document: Document) -> tuple[EvalConfig, list[Problem]]:
    """As `load_config`, for a document that was already read."""
    config = read_model(document, EvalConfig, "an eval config", {DocumentKind.CONFIG, DocumentKind.UNKNOWN})
    warnings = [
        *document.warnings,
        *problems_at(document, config_findings(config, document.value), "warning"),
    ]
    if slips := misspelled_keys(config):
        raise file_error([*problems_at(document, slips), *warnings])
    return config, warnings


def load_scenarios(path: str | Path, *, label: str = "") -> ConversationScenarios:
    """Read a file of conversation scenarios. Raises EvalFileError."""
    return read_scenarios(read_document(Path(path), label))


def read_scenarios(document: Document) -> ConversationScenarios:
    """As `load_scenarios`, for a document that was already read."""
    return read_model(document, ConversationScenarios, "conversation scenarios", {DocumentKind.SCENARIOS})


def load_session_input(path: str | Path, *, label: str = "") -> SessionInput:
    """Read the session in which cases start. Raises EvalFileError."""
    return read_session_input(read_document(Path(path), label))


def read_session_input(document: Document) -> SessionInput:
    """As `load_session_input`, for a document that was already read."""
    return read_model(
        document, SessionInput, "a session input", {DocumentKind.SESSION_INPUT, DocumentKind.UNKNOWN}
    )


def load_results(path: str | Path, *, label: str = "") -> EvalSetResult:
    """Read an `*.evalset_result.json` of any age, also wrapped in a JSON string. Raises EvalFileError."""
    with no_collection():
        return read_results(read_document(Path(path), label, limit=RESULT_LIMIT))


def read_results(document: Document) -> EvalSetResult:
    """As `load_results`, for a document that was already read."""
    from proctor.schema.format.result import EvalSetResult

    return read_model(document, EvalSetResult, "an eval set result", {DocumentKind.RESULT})


def read_model(
    document: Document, model: type[_Model], expected: str, kinds: Collection[DocumentKind]
) -> _Model:
    """Return the document as `model`, if it is of one of `kinds`."""
    document_kind = kind(document.value, document.name)
    value: Any = document.value
    if document_kind not in kinds or not isinstance(value, dict):
        raise file_error([*document.warnings, *not_a(document, expected, document_kind)])
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise file_error(
            [*document.warnings, *problems_at(document, findings_of_error(error, value))]
        ) from None


# --- Warnings about a readable config ---------------------------------------------------------------------------------


_KEYS = (*CONFIG_KEYS, "trials")  # the last is Proctor's own, and does not make a document a config
# Keys that Proctor adds to every criterion.
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
_MAX_FINDINGS = 100  # unknown keys of a document
_COMMENT_KEYS = ("_comment", "_documentation", "description", "$schema")


def config_findings(config: EvalConfig, value: dict[str, object]) -> list[DocumentFinding]:
    """Return all warnings about a config; `value` is its document."""
    return [
        *_unknown_keys(config, value),
        *_unsupported_features(config, value),
        *_criteria_findings(config, value),
    ]


def misspelled_keys(config: EvalConfig) -> list[DocumentFinding]:
    """Return misspelled keys and metrics outside of `criteria`: they have no effect, so a run refuses the config."""
    near = {key: near_key(key, _KEYS) for key in config.model_extra or ()}
    misspelled = [
        DocumentFinding((key,), "unknown key; nothing reads it", f"did you mean `{name}`?", at_key=True)
        for key, name in near.items()
        if name and key not in _COMMENT_KEYS
    ]
    metrics = [
        DocumentFinding(
            (key,), "a metric outside of `criteria`; nothing reads it", "put it into `criteria`", at_key=True
        )
        for key in config.model_extra or ()
        if key in _PREBUILT
    ]
    return [*misspelled, *metrics, *_misspelled_trials(config), *_misspelled_user(config)]


def _misspelled_trials(config: EvalConfig) -> Iterator[DocumentFinding]:
    """Report every unknown key in `trials`, which only Proctor defines."""
    known = tuple(TrialsConfig.model_fields)
    for key in islice((config.trials and config.trials.model_extra) or (), _MAX_FINDINGS):
        if key not in _COMMENT_KEYS:
            near = near_key(key, known)
            hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known)}"
            yield DocumentFinding(("trials", key), "unknown key; nothing reads it", hint, at_key=True)


def _misspelled_user(config: EvalConfig) -> Iterator[DocumentFinding]:
    """Report misspelled keys of `user_simulator_config`: without them, the simulated user would behave differently."""
    simulator = config.user_simulator_config
    if simulator is None:
        return
    for key in islice(simulator.model_extra or (), _MAX_FINDINGS):
        if key not in _COMMENT_KEYS and (near := near_key(key, tuple(type(simulator).model_fields))):
            path = ("user_simulator_config", key)
            yield DocumentFinding(
                path, "unknown key; nothing reads it", f"did you mean `{near}`?", at_key=True
            )


def _unknown_keys(config: EvalConfig, value: dict[str, object]) -> Iterator[DocumentFinding]:
    for key in islice(config.model_extra or (), _MAX_FINDINGS):
        if key in (*_COMMENT_KEYS, *_PREBUILT) or near_key(key, _KEYS):
            continue
        yield DocumentFinding(
            (key,), "unknown key; nothing reads it", _hint_for_unknown_key(key), at_key=True
        )
    if not config.criteria:
        criteria_key = next((key for key in value if to_snake(key) == "criteria"), None)
        path = (criteria_key,) if criteria_key else ()
        yield DocumentFinding(
            path,
            "no criteria: this config names no metric, so only what a case states is scored",
            "name a metric in `criteria`",
        )


def _hint_for_unknown_key(key: str) -> str:
    if to_snake(key) in TrialsConfig.model_fields:
        return "put it into `trials`"
    if to_snake(key) == "compat":
        return "use the option --compat of the run"
    if to_snake(key) in {"metrics", "eval_metrics", "evaluators", "evaluation_criteria", "global_criteria"}:
        return "a config of this format names its metrics in `criteria`"
    return ""


def _unsupported_features(config: EvalConfig, value: dict[str, object]) -> Iterator[DocumentFinding]:
    if config.live_model_config is not None:
        yield DocumentFinding(
            (_key(value, "live_model_config"),),
            "live mode is not supported: a run with this config is refused",
            "remove `live_model_config` to run without live streaming",
            at_key=True,
        )
    if isinstance(config.user_simulator_config, LlmAudioUserSimulatorConfig):
        yield DocumentFinding(
            (_key(value, "user_simulator_config"), "type"),
            "simulated users with audio (llm_audio) are not supported: a scenario run with this config is refused",
            "use `llm_backed`",
        )


def _key(value: dict[str, object], name: str) -> str:
    return next((key for key in (name, to_camel(name)) if key in value), name)


def _criteria_findings(config: EvalConfig, value: dict[str, Any]) -> Iterator[DocumentFinding]:
    custom = set(config.custom_metrics or ())
    criteria = value.get("criteria", {})
    for name, criterion in islice(config.criteria.items(), _MAX_FINDINGS):
        yield from _criterion_findings(name, criterion, is_custom=name in custom)
        if isinstance(criterion, BaseCriterion):
            yield from _options(("criteria", name), name, criterion, criteria.get(name))
    for name in sorted(custom - config.criteria.keys()):
        where = (_key(value, "custom_metrics"), name)
        yield DocumentFinding(where, "this metric is not in `criteria`: it is not computed", "", at_key=True)


def _criterion_findings(
    name: str, criterion: float | BaseCriterion, *, is_custom: bool
) -> Iterator[DocumentFinding]:
    path = ("criteria", name)
    if not is_custom and name not in METRICS:
        near = near_key(name, METRICS.names())
        hint = (
            f"did you mean `{near}`?" if near else "register a custom metric, or name it in `custom_metrics`"
        )
        yield DocumentFinding(path, f"unknown metric {name!r}", hint, at_key=True)
    elif not is_custom and name in {metric.value for metric in EFFICIENCY_METRICS}:
        yield DocumentFinding(
            path, "this metric is always reported and takes no threshold", "ADK cannot evaluate it so"
        )
    else:
        yield from _threshold_findings(path, criterion)


def _threshold_findings(path: tuple[str, str], criterion: float | BaseCriterion) -> Iterator[DocumentFinding]:
    threshold = criterion.threshold if isinstance(criterion, BaseCriterion) else criterion
    low, high = _RANGES.get(path[1], (0.0, 1.0))
    if path[1] in _PREBUILT and not low <= threshold <= high:
        never = "pass" if threshold > high else "fail"
        yield DocumentFinding(
            path, f"the threshold {threshold:g} can never {never}: scores are from {low:g} to {high:g}"
        )


def _options(
    path: tuple[str, str], name: str, criterion: BaseCriterion, value: object
) -> Iterator[DocumentFinding]:
    model = _CRITERIA.get(name, BaseCriterion)
    known = [*model.model_fields, *_OWN_OPTIONS]
    for key in islice(criterion.model_extra or (), _MAX_FINDINGS):
        near = near_key(key, known)
        if name in _CRITERIA and near and to_snake(key) not in known:
            yield DocumentFinding((*path, key), "unknown option", f"did you mean `{near}`?", at_key=True)
    try:
        model.model_validate(value)
    except ValidationError as error:
        yield from findings_of_error(error, value, path)
