"""As `google.adk.errors.not_found_error`."""

from proctor.errors import SetupError

__all__ = ["NotFoundError"]


class NotFoundError(SetupError):
    """No app, eval set, eval case, result or metric of that name."""
