"""Ending a run early, in order: nothing new begins, what is under way may finish, everything else can be resumed."""

from __future__ import annotations

from collections.abc import Callable

DRAIN = 10.0
"""Seconds that trials under way have to finish, once somebody stops a run."""

Listener = Callable[[str, float | None], None]


class StopRequest:
    """Asks the run that it was given to (`evaluate(…, stop=request)`) to end early.

    Call it with a reason, from any thread; before the run has begun, too. Only the first call counts.
    """

    def __init__(self) -> None:
        """Ask for nothing yet."""
        self.reason = ""
        self._drain: float | None = None
        self._listener: Listener | None = None

    def __call__(self, reason: str, *, drain: float | None = DRAIN) -> None:
        """Stop because of `reason`; trials under way get `drain` seconds (`None`: as long as they take)."""
        if self.reason:
            return
        self.reason, self._drain = reason, drain
        if self._listener is not None:
            self._listener(reason, drain)

    def listen(self, listener: Listener) -> None:
        """Tell `listener` when a stop is asked for; at once, when it was already."""
        self._listener = listener
        if self.reason:
            listener(self.reason, self._drain)
