"""Models that a request names: any of a known provider, but none with a URL, and none that reads a file.

The API key of a provider is sent to the model's address, so a request must not choose the address.
"""

from __future__ import annotations

from collections.abc import Iterator

from proctor.common.registry import MODELS
from proctor.errors import SetupError
from proctor.models.names import parse_name
from proctor.runs.setup.judge_provider import judge_named
from proctor.runs.setup.settings import Settings

_KEYS = frozenset({"judgemodel", "model", "audiomodel"})
"""Keys of criteria and of the simulated user that name a model, in a normalized spelling."""


def model_problem(name: str, settings: Settings) -> str:
    """Return why a request may not name a model; empty if it may, or if the run reports the problem."""
    if name == judge_named(None, settings.judge):
        return ""  # the project's own judge is allowed at any address
    try:
        model = parse_name(name, MODELS.names())
    except SetupError:
        return ""  # the command reports it together with all other problems
    if model.url:
        return (
            f"{name}: the page may not name a judge with a URL, because its key would be sent there: "
            "name it as `judge` in proctor.toml"
        )
    if model.provider == "scripted":
        return f"{name}: a scripted judge reads a file; name it as `judge` in proctor.toml"
    return ""


def model_problems(document: object, settings: Settings) -> list[str]:
    """Return the problems of all models in a part of a config, at any depth."""
    names = dict.fromkeys(_model_names(document))
    return [problem for name in names if (problem := model_problem(name, settings))]


def _model_names(document: object) -> Iterator[str]:
    left = [document]  # no recursion: a request may be nested deeply
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
