"""Mistakes in the set-up, in the type that google-adk raises for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.errors import SetupError, SetupProblems


class InvalidSetupError(SetupProblems, ValueError):
    """What is wrong with the set-up, before the first agent call. google-adk raises a ValueError for it."""


def refused(message: str) -> InvalidSetupError:
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
