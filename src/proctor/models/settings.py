"""Settings of a call, from the words of GenerateContentConfig to those of each provider; none is dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from proctor.errors import SetupError, did_you_mean
from proctor.schema.format.content import GenerateContentConfig

__all__ = ["PATIENCE", "Dialect", "ProviderSettings", "map_settings", "patience_of", "settings_of"]

Dialect = Literal["google", "openai", "openai-responses", "anthropic", "bedrock"]


@dataclass(slots=True)
class ProviderSettings:
    """What a provider is sent, and what it is not."""

    values: dict[str, Any] = field(default_factory=dict)
    """As pydantic-ai's ModelSettings name them."""
    notes: list[str] = field(default_factory=list)
    """One sentence for each setting that this provider does not get."""


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
"""The setting -> its name there, and who takes it."""

_OWN = {
    "automatic_function_calling": "no tools are offered",
    "candidate_count": "each sample is a call of its own",
    "response_modalities": "the answer is always text",
    "should_return_http_response": "",
}
"""Settings that change nothing here; told where there is something to tell."""

_TOLD = {
    "response_mime_type": "the answer's form is that of the question",
    "response_schema": "the answer's form is that of the question",
    "response_json_schema": "the answer's form is that of the question",
    "response_logprobs": "nothing reads it",
    "logprobs": "nothing reads it",
}

_REFUSED = {
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

_HEEDED = (*_MAPPED, "thinking_config", "http_options")
_KNOWN = (*_HEEDED, *_OWN, *_TOLD, *_REFUSED)


def map_settings(settings: Mapping[str, Any], dialect: Dialect, model: str) -> ProviderSettings:
    """Return what of `settings` a provider is sent. `model`: as messages name it.

    Raises:
        SetupError: there is no such setting, it cannot have this value, or a judge may not have it; all problems at once.
    """
    mapped, problems = ProviderSettings(), []
    for given, value in settings.items():
        name = _snake(given)
        if value is None:
            continue
        problem = _refused(name, given, value)
        if problem:
            problems.append(problem)
        elif name == "thinking_config":
            _think(mapped, dialect, value, model)
        elif name in _MAPPED:
            _put(mapped, name, dialect, value, model)
        elif name == "http_options":
            mapped.notes += _http(value, model)
        elif name in _TOLD:
            mapped.notes.append(f"{model} is not sent {name}: {_TOLD[name]}")
    if problems:
        raise SetupError("\n".join(f"The settings of {model}: {problem}" for problem in problems))
    return mapped


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _refused(name: str, given: str, value: Any) -> str:
    if name not in _KNOWN:
        return f"there is no setting {given!r}.{did_you_mean(name, _KNOWN)} Known: {', '.join(_HEEDED)}"
    if name in _REFUSED:
        return f"{given!r} cannot be set: {_REFUSED[name]}"
    if name == "candidate_count" and value != 1:
        return f"{given!r} cannot be {value!r}: {_OWN[name]} (`num_samples` says how many)"
    expected, fits = _VALUES.get(name, ("", _anything))
    return "" if fits(value) else f"{given!r} must be {expected}, not {value!r}"


def _put(mapped: ProviderSettings, name: str, dialect: Dialect, value: Any, model: str) -> None:
    theirs, takers = _MAPPED[name]
    if dialect not in takers:
        mapped.notes.append(f"{model} is not sent {name}: its provider has no such setting")
        return
    mapped.values[theirs] = int(value) if name == "top_k" else value


def _http(value: Any, model: str) -> list[str]:
    """Say what of `http_options` is not heeded: all but `timeout`, which is the time that a call may take."""
    given = [_snake(key) for key, one in _as_dict(value).items() if one is not None]
    return [
        f"{model} is not sent http_options.{key}: how it is asked, and asked again, is Proctor's own"
        for key in given
        if key != "timeout"
    ]


def _think(mapped: ProviderSettings, dialect: Dialect, value: Any, model: str) -> None:
    """Translate `thinking_config`: a budget of tokens, or a level."""
    config = {_snake(key): one for key, one in _as_dict(value).items() if one is not None}
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
            f"{model} is not sent thinking_budget: its provider knows levels (`thinking_level`), no budgets"
        )


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    dumped: dict[str, Any] = value.model_dump()
    return dumped


# --- what each setting may be -----------------------------------------------------------------------------------------


def _anything(_: Any) -> bool:
    return True


def _number(least: float, most: float = float("inf")) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and least <= value <= most
    )


def _whole(least: float) -> Callable[[Any], bool]:
    return lambda value: _number(least)(value) and float(value).is_integer()


def _texts(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(one, str) for one in value)
    )


_LEVELS = ("minimal", "low", "medium", "high")


def _thinking(value: Any) -> bool:
    if not _object(value):
        return False
    level = next((one for key, one in _as_dict(value).items() if _snake(key) == "thinking_level"), None)
    return level is None or str(level).lower() in _LEVELS


def _object(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


_VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
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
"""Seconds that a call may take, whatever is tried again within it, unless its settings say otherwise
(`http_options.timeout`, in milliseconds)."""


def settings_of(config: GenerateContentConfig | None) -> dict[str, Any]:
    """Return the settings of a model as a file has them: those that are stated."""
    return {} if config is None else config.model_dump(mode="json", exclude_none=True)


def patience_of(settings: Mapping[str, Any]) -> float:
    """Return the seconds that a call with these settings may take."""
    http = settings.get("http_options") or settings.get("httpOptions")
    milliseconds = http.get("timeout") if isinstance(http, Mapping) else None
    if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool) and milliseconds > 0:
        return milliseconds / 1000
    return PATIENCE
