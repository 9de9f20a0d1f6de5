"""Mistakes in the set-up, in the type that google-adk raises for them; arguments that are not what is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.errors import SetupError, SetupProblems
from proctor.schema.format.wire_model import plain_data

Model = TypeVar("Model", bound=BaseModel)


class InvalidSetupError(SetupProblems, ValueError):
    """What is wrong with the set-up, before the first agent call. google-adk raises a ValueError for it."""


def setup_error(message: str) -> InvalidSetupError:
    """Build the error for one mistake."""
    return InvalidSetupError([SetupError(message)])


@contextmanager
def set_up() -> Iterator[None]:
    """Let set-up problems leave as `InvalidSetupError`."""
    try:
        yield
    except (InvalidSetupError, NotFoundError):
        raise
    except SetupProblems as error:
        raise InvalidSetupError(error.problems) from None
    except SetupError as error:
        raise InvalidSetupError([error]) from error
    except ValidationError as error:
        raise InvalidSetupError(list(_problems(error.title, error))) from None


def a_model(kind: type[Model], argument: Any, what: str) -> Model:
    """Return an argument as the model that it is to be: one of that kind already, google-adk's, or a dict.

    Raises:
        InvalidSetupError: it is none of these; `what` is how the message names it.
    """
    try:
        return argument if type(argument) is kind else kind.model_validate(plain_data(argument))
    except ValidationError as error:
        if not isinstance(argument, dict | BaseModel):
            article = "an" if kind.__name__[0] in "AEIO" else "a"
            expected = f"{article} {kind.__name__} (or a dict of its fields)"
            raise unexpected_argument(what, expected, argument) from None
        raise InvalidSetupError(list(_problems(what, error))) from None


def a_path(argument: Any, what: str) -> str:
    """Return an argument as the path that it is to be. Raises InvalidSetupError."""
    if isinstance(argument, str | os.PathLike):
        return str(os.fspath(argument))
    raise unexpected_argument(what, "a path", argument)


def unexpected_argument(what: str, expected: str, argument: Any) -> InvalidSetupError:
    """Build the error for an argument of another kind than is asked for."""
    actual = f"the class {argument.__name__}" if isinstance(argument, type) else type(argument).__name__
    return setup_error(f"{what}: expected {expected}, got {'None' if argument is None else actual}")


def _problems(what: str, error: ValidationError) -> Iterator[SetupError]:
    for one in error.errors():
        field = ".".join(to_snake(str(part)) for part in one["loc"])
        yield SetupError(f"{what}{f'.{field}' if field else ''}: {one['msg']}")
