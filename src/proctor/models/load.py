"""From what a user names to a model that can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from proctor.common.error_text import safe_repr
from proctor.errors import SetupError
from proctor.models.base import ChatModel
from proctor.models.concurrency_limit import Limiter
from proctor.models.names import read_name
from proctor.models.retries import Patience, PatientModel
from proctor.registry import MODELS

__all__ = ["as_model", "check_settings", "code_of_provider", "load_model"]


def load_model(
    name: str, *, limiter: Limiter | None = None, patience: Patience | None = None
) -> PatientModel:
    """Return the model of that name, which is asked again where that may help; nothing is asked yet.

    `limiter`: how many requests run at once, shared by those that are given the same one.

    Raises:
        UnknownNameError: no such name; the message has the closest one.
        MissingExtraError: its packages are not installed.
        SetupError: its key is not set, or its address cannot be one.
    """
    taken_apart = read_name(name, MODELS.names())
    model: ChatModel = MODELS.make(taken_apart.provider, taken_apart)
    code = code_of_provider(taken_apart.provider)
    if code != "":  # one of Proctor's own has all the parts
        _check_model(model)
    return PatientModel(model, limiter=limiter, patience=patience, code=code)


def code_of_provider(provider: str) -> str | None:
    """Return what tells the code of a provider of models from another of the same name.

    Empty for one of Proctor's; of an entry point its package with its version, and the modules of a project that it is made
    of; `None` where not all of it is known.
    """
    package = MODELS.package_of(provider)
    if package == "":
        return ""
    from proctor.common.code_identity import identify

    identity = identify(MODELS.get(provider))
    if not identity.is_complete or package is None:
        return None
    return f"{package} {identity.held} {identity.modules}"


def as_model(given: object, *, limiter: Limiter | None = None, patience: Patience | None = None) -> ChatModel:
    """Return the model that `given` is: a name, a ChatModel, or a function from messages to what it answers.

    Raises:
        SetupError: it is none of these, or the model of that name cannot be asked.
    """
    if isinstance(given, str):
        return load_model(given, limiter=limiter, patience=patience)
    if callable(getattr(given, "complete", None)) and not isinstance(given, type):
        _check_model(given)
        return cast("ChatModel", given)
    if callable(given) and not isinstance(given, type):
        from proctor.models.function import FunctionModel

        return FunctionModel(given)
    raise SetupError(
        f"A model is a name, an object with `complete`, or a function from messages to an answer; not {safe_repr(given)}."
    )


_PARTS = {"name": (str, "a text"), "has_schemas": (bool, "true or false")}
"""What is read of a model before it is asked, by its type."""


def _check_model(given: object) -> None:
    wrong = [
        f"`{name}` ({meaning}) is {safe_repr(getattr(given, name)) if hasattr(given, name) else 'missing'}"
        for name, (kind, meaning) in _PARTS.items()
        if not isinstance(getattr(given, name, None), kind)
    ]
    if wrong:
        raise SetupError(
            f"{safe_repr(given)} is not a model: {'; '.join(wrong)}. A model has `name` (what it is called in reports), "
            "`has_schemas` (whether it answers with data by a JSON Schema) and `async complete(messages, *, options)`, which "
            "returns a `Reply`; a function from messages to an answer will do, too"
        )


def check_settings(model: ChatModel, settings: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each of `settings` (words of GenerateContentConfig) that a model will not get.

    A model without settings of its own, such as a function, gets them all, and may do with them what it likes.

    Raises:
        SetupError: there is no such setting, or it cannot have this value; all problems at once.
    """
    check = getattr(model, "check", None)
    notes: list[str] = check(settings) if check is not None else []
    return notes
