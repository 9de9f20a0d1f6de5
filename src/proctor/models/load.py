"""Load the chat model that a user names or passes as an object."""

from __future__ import annotations

from typing import cast

from proctor.common.error_text import safe_repr
from proctor.common.registry import MODELS
from proctor.errors import SetupError
from proctor.models.base import ChatModel
from proctor.models.names import parse_name
from proctor.models.retries import Limiter, Patience, PatientModel


def load_model(
    name: str, *, limiter: Limiter | None = None, patience: Patience | None = None
) -> PatientModel:
    """Return the model of a name, with retries and limits. No request is sent.

    `limiter`: the limit of concurrent requests, which models may share.

    Raises:
        UnknownNameError: the name is unknown; the message has the closest one.
        MissingExtraError: its packages are not installed.
        SetupError: its key is not set, or its address is invalid.
    """
    parsed = parse_name(name, MODELS.names())
    model: ChatModel = MODELS.make(parsed.provider, parsed)
    code = code_of_provider(parsed.provider)
    if code != "":  # the providers of Proctor are tested
        _check_model(model)
    return PatientModel(model, limiter=limiter, patience=patience, code=code)


def code_of_provider(provider: str) -> str | None:
    """Return the identity of the code of a provider.

    Empty for a provider of Proctor. For an entry point: its package with the version, and its modules; `None` if not all of
    its code is known.
    """
    package = MODELS.package_of(provider)
    if package == "":
        return ""
    from proctor.common.code_identity import identify

    identity = identify(MODELS.get(provider))
    if not identity.is_complete or package is None:
        return None
    return f"{package} {identity.held} {identity.modules}"


def as_model(model: object, *, limiter: Limiter | None = None, patience: Patience | None = None) -> ChatModel:
    """Return a chat model for a name, a `ChatModel` or a function from messages to an answer.

    Raises:
        SetupError: it is none of these, or the model of that name is not available.
    """
    if isinstance(model, str):
        return load_model(model, limiter=limiter, patience=patience)
    if callable(getattr(model, "complete", None)) and not isinstance(model, type):
        _check_model(model)
        return cast("ChatModel", model)
    if callable(model) and not isinstance(model, type):
        from proctor.models.function import FunctionModel

        return FunctionModel(model)
    raise SetupError(
        f"A model is a name, an object with `complete`, or a function from messages to an answer; not {safe_repr(model)}."
    )


_PARTS = {"name": (str, "a text"), "has_schemas": (bool, "true or false")}
"""The attributes of a model that Proctor reads before the first call, with their types."""


def _check_model(model: object) -> None:
    problems = [
        f"`{name}` ({meaning}) is {safe_repr(getattr(model, name)) if hasattr(model, name) else 'missing'}"
        for name, (kind, meaning) in _PARTS.items()
        if not isinstance(getattr(model, name, None), kind)
    ]
    if problems:
        raise SetupError(
            f"{safe_repr(model)} is not a model: {'; '.join(problems)}. A model has `name` (what it is called in reports), "
            "`has_schemas` (whether it answers with data by a JSON Schema) and `async complete(messages, *, options)`, which "
            "returns a `Reply`; a function from messages to an answer is accepted too"
        )
