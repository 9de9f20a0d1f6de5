"""What a run can be told beyond agent, sets and criteria."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from proctor.errors import SetupError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one run; the defaults are those of the command line."""

    num_runs: int = 1
    """Trials per case."""
    concurrency: int = 8
    """Trials under way at once."""
    timeout: float | None = 300.0
    """Seconds per turn; `None` for no limit."""
    trial_timeout: float | None = None
    """Seconds per trial, all turns together."""
    metrics: Collection[str] | None = None
    """Only these metrics of the config; the others are reported as skipped."""
    no_judge: bool = False
    """Leave out the metrics that ask a language model."""
    limit: int | None = None
    """At most this many cases of each set."""
    tags: Collection[str] = ()
    """Only cases that carry one of these tags."""
    retry_errors: int = 0
    """Further attempts at a trial that ended in an infrastructure error."""
    fail_fast: bool = False
    """Stop after the first case that did not pass."""
    compat: str | None = None
    """`adk`: score every metric exactly as google-adk does."""
    setup: Callable[..., Any] | None = None
    """Called before each trial; may take `case` and `session`; plain or async."""
    teardown: Callable[..., Any] | None = None
    """Called after each trial, whatever came of it."""
    keep_evidence: Literal["all", "failures"] = "all"
    explain: Literal["all", "failures"] = "failures"

    def problems(self) -> list[SetupError]:
        """Return what is wrong with these options."""
        wrong = [
            f"{name} must be at least {least}, got {value}"
            for name, value, least in (
                ("num_runs", self.num_runs, 1),
                ("concurrency", self.concurrency, 1),
                ("limit", self.limit, 1),
                ("retry_errors", self.retry_errors, 0),
            )
            if value is not None and value < least
        ]
        wrong += [
            f"{name} must be a number of seconds above 0, got {value}"
            for name, value in (("timeout", self.timeout), ("trial_timeout", self.trial_timeout))
            if value is not None and not value > 0
        ]
        if self.compat not in (None, "adk"):
            wrong.append(f"compat knows only 'adk', got {self.compat!r}")
        return [SetupError(message) for message in wrong]
