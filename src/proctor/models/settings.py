"""Map the settings of GenerateContentConfig to those of each provider, with a warning for each unsupported one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from pydantic import BaseModel

from proctor.errors import SetupError, did_you_mean
from proctor.schema.format.content import GenerateContentConfig

Dialect = Literal["google", "openai", "openai-responses", "anthropic", "bedrock"]


@dataclass(slots=True)
class ProviderSettings:
    """The settings for a provider, and warnings about the others."""

    values: dict[str, object] = field(default_factory=dict)
    """By the names of pydantic-ai's ModelSettings."""
    notes: list[str] = field(default_factory=list)
    """A warning for each setting that the provider does not support."""


_EVERYWHERE = frozenset({"google", "openai", "openai-responses", "anthropic", "bedrock"})
_CHAT = frozenset({"google", "openai"})

_MAPPED: dict[str, tuple[str, frozenset[str]]] = {
    "temperature": ("temperature", _EVERYWHERE),
    "top_p": ("top_p", _EVERYWHERE),
    "top_k": ("top_k", frozenset({"google", "anthropic", "bedrock"})),
    "max_output_tokens": ("max_tokens", _EVERYWHERE),
    "stop_sequences": ("stop_sequences", _CHAT | {"anthropic", "bedrock"}),
    "seed": ("seed", _CHAT),
    "presence_penalty": ("presence_penalty", _CHAT),
    "frequency_penalty": ("frequency_penalty", _CHAT),
    "safety_settings": ("google_safety_settings", frozenset({"google"})),
    "labels": ("google_labels", frozenset({"google"})),
    "service_tier": ("service_tier", _EVERYWHERE),
}
"""The name of a setting in pydantic-ai, and the dialects that support it."""

_WITHOUT_EFFECT = {
    "automatic_function_calling": "no tools are offered",
    "candidate_count": "each sample is a separate call",
    "response_modalities": "the answer is always text",
    "should_return_http_response": "",
}
"""Settings without effect, with the reason."""

_IGNORED = {
    "response_mime_type": "the answer's form is that of the question",
    "response_schema": "the answer's form is that of the question",
    "response_json_schema": "the answer's form is that of the question",
    "response_logprobs": "nothing reads it",
    "logprobs": "nothing reads it",
}

_FORBIDDEN = {
    "system_instruction": "the instructions of a judge are those of its metric",
    "tools": "a judge has no tools",
    "tool_config": "a judge has no tools",
    "cached_content": "it would replace the instructions of the judge",
    "speech_config": "a judge answers in text",
    "image_config": "a judge answers in text",
    "audio_timestamp": "a judge reads text",
    "media_resolution": "a judge reads text",
    "routing_config": "the model is the one that is named",
    "model_selection_config": "the model is the one that is named",
}

_SUPPORTED = (*_MAPPED, "thinking_config", "http_options")
_KNOWN = (*_SUPPORTED, *_WITHOUT_EFFECT, *_IGNORED, *_FORBIDDEN)


def map_settings(settings: Mapping[str, object], dialect: Dialect, model: str) -> ProviderSettings:
    """Return the settings for a provider. `model`: its name in messages.

    Raises:
        SetupError: a setting is unknown, forbidden or has an invalid value; all problems at once.
    """
    mapped, problems = ProviderSettings(), []
    for written_name, value in settings.items():
        name = _snake(written_name)
        if value is None:
            continue
        problem = _setting_problem(name, written_name, value)
        if problem:
            problems.append(problem)
        elif name == "thinking_config":
            _map_thinking(mapped, dialect, value, model)
        elif name in _MAPPED:
            _map_setting(mapped, name, dialect, value, model)
        elif name == "http_options":
            mapped.notes += _ignored_http_options(value, model)
        elif name in _IGNORED:
            mapped.notes.append(f"{model} is not sent {name}: {_IGNORED[name]}")
    if problems:
        raise SetupError("\n".join(f"The settings of {model}: {problem}" for problem in problems))
    return mapped


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _setting_problem(name: str, written_name: str, value: object) -> str:
    if name not in _KNOWN:
        return f"there is no setting {written_name!r}.{did_you_mean(name, _KNOWN)} Known: {', '.join(_SUPPORTED)}"
    if name in _FORBIDDEN:
        return f"{written_name!r} cannot be set: {_FORBIDDEN[name]}"
    if name == "candidate_count" and value != 1:
        return f"{written_name!r} cannot be {value!r}: {_WITHOUT_EFFECT[name]} (set `num_samples` instead)"
    expected, is_valid = _VALUES.get(name, ("", None))
    return (
        "" if is_valid is None or is_valid(value) else f"{written_name!r} must be {expected}, not {value!r}"
    )


def _map_setting(mapped: ProviderSettings, name: str, dialect: Dialect, value: object, model: str) -> None:
    provider_name, dialects = _MAPPED[name]
    if dialect not in dialects:
        mapped.notes.append(f"{model} is not sent {name}: its provider has no such setting")
        return
    mapped.values[provider_name] = int(value) if isinstance(value, float) and name == "top_k" else value


def _ignored_http_options(value: object, model: str) -> list[str]:
    """Return a warning for each of the `http_options` except `timeout`."""
    names = [_snake(key) for key, option in _as_dict(value).items() if option is not None]
    return [
        f"{model} is not sent http_options.{key}: Proctor itself controls requests and retries"
        for key in names
        if key != "timeout"
    ]


def _map_thinking(mapped: ProviderSettings, dialect: Dialect, value: object, model: str) -> None:
    """Translate `thinking_config`: a budget of tokens, or a level."""
    config = {_snake(key): option for key, option in _as_dict(value).items() if option is not None}
    if dialect == "google":
        mapped.values["google_thinking_config"] = config
        return
    budget, level = config.get("thinking_budget"), config.get("thinking_level")
    if level:
        mapped.values["thinking"] = str(level).lower()
    elif budget == 0:
        mapped.values["thinking"] = False
    elif budget == -1:
        mapped.values["thinking"] = True
    elif budget and dialect == "anthropic":
        mapped.values["anthropic_thinking"] = {"type": "enabled", "budget_tokens": budget}
    elif budget:
        mapped.notes.append(
            f"{model} is not sent thinking_budget: its provider supports levels (`thinking_level`), not budgets"
        )


def _as_dict(value: object) -> dict[str, object]:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return dict(value) if isinstance(value, Mapping) else {}


# --- the values of each setting ---------------------------------------------------------------------------------------


def _number(least: float, most: float = float("inf")) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and least <= value <= most
    )


def _whole(least: float) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, int | float) and _number(least)(value) and float(value).is_integer()
    )


def _texts(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(text, str) for text in value)
    )


_LEVELS = ("minimal", "low", "medium", "high")


def _thinking(value: object) -> bool:
    if not _object(value):
        return False
    level = next((level for key, level in _as_dict(value).items() if _snake(key) == "thinking_level"), None)
    return level is None or str(level).lower() in _LEVELS


def _object(value: object) -> bool:
    return isinstance(value, Mapping | BaseModel)


_VALUES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "temperature": ("a number from 0 to 2", _number(0, 2)),
    "top_p": ("a number from 0 to 1", _number(0, 1)),
    "top_k": ("a whole number of at least 1", _whole(1)),
    "max_output_tokens": ("a whole number of at least 1", _whole(1)),
    "seed": ("a whole number", _whole(float("-inf"))),
    "presence_penalty": ("a number from -2 to 2", _number(-2, 2)),
    "frequency_penalty": ("a number from -2 to 2", _number(-2, 2)),
    "stop_sequences": ("an array of texts", _texts),
    "thinking_config": (
        f'an object, such as {{"thinking_budget": 0}} or {{"thinking_level": "low"}} ({", ".join(_LEVELS)})',
        _thinking,
    ),
    "http_options": ('an object, such as {"timeout": 60000}', _object),
}


PATIENCE = 120.0
"""The default timeout in seconds of a call with its retries; `http_options.timeout` (milliseconds) replaces it."""


def settings_of(config: GenerateContentConfig | None) -> dict[str, object]:
    """Return the settings of a model that a file states."""
    return {} if config is None else config.model_dump(mode="json", exclude_none=True)


def patience_of(settings: Mapping[str, object]) -> float:
    """Return the timeout in seconds of a call with these settings."""
    http = settings.get("http_options") or settings.get("httpOptions")
    milliseconds = http.get("timeout") if isinstance(http, Mapping) else None
    if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool) and milliseconds > 0:
        return milliseconds / 1000
    return PATIENCE
