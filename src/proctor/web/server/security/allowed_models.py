"""Models that a request names: any of a known provider, but none at an address of its own, and none that is a file.

The key of a provider goes to where its model is: a page, or whoever reaches the server, must not say where that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proctor.errors import SetupError
from proctor.models.names import parse_name
from proctor.registry import MODELS
from proctor.runs.settings import Settings
from proctor.runs.setup.judge_provider import judge_named

_KEYS = frozenset({"judgemodel", "model", "audiomodel"})
"""Keys of criteria and of the played user that name a model, however they are spelled."""


def model_problem(name: str, settings: Settings) -> str:
    """Say why a model may not be asked for by a request; empty where it may, or where the run will say it."""
    if name == judge_named(None, settings.options.get("judge")):
        return ""  # it is the project's own, wherever it is
    try:
        found = parse_name(name, MODELS.names())
    except SetupError:
        return ""  # the command says it, beside all else that is wrong
    if found.url:
        return (
            f"{name}: a judge at an address of its own is not taken from the page, because its key would be sent there: "
            "name it as `judge` in proctor.toml"
        )
    if found.provider == "scripted":
        return f"{name}: a scripted judge reads a file; name it as `judge` in proctor.toml"
    return ""


def model_problems(document: Any, settings: Settings) -> list[str]:
    """Say so of every model that a part of a config names, however deep."""
    return [said for name in dict.fromkeys(_model_names(document)) if (said := model_problem(name, settings))]


def _model_names(document: Any) -> Iterator[str]:
    left = [document]  # no recursion: what is nested by others may be nested deeply
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            left += value.values()
            yield from (
                each
                for key, each in value.items()
                if isinstance(each, str) and str(key).replace("_", "").lower() in _KEYS
            )
