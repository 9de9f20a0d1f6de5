"""What a run can be told beyond agent, sets and criteria."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from proctor.common.limits import MAX_EVENTS, MAX_TEXT
from proctor.common.quick_dataclasses import dataclass
from proctor.engine.execution.executor import MOST_ASIDE
from proctor.engine.execution.stop_request import StopRequest
from proctor.engine.planning.sharding import parse_shard
from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.engine.planning.stopping_rule import StoppingRule
    from proctor.engine.usage.budget import RunBudget
    from proctor.judges.base import Judges
    from proctor.simulation.base import Users


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one run; the defaults are those of the command line."""

    num_runs: int | None = None
    """Trials per case; `None`: as many as each set's config says, else 1."""
    until_decided: bool = False
    """Trials of a case are added while it is not decided, up to `num_runs`; or were, where they are judged again."""
    looks: StoppingRule | None = None
    """Not each case is to be decided, but how the run compares with another one."""
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
    allow_unasserted: bool = False
    """Run cases that assert nothing, and record them as skipped; else they are refused."""
    limit: int | None = None
    """At most this many cases of each set."""
    tags: Collection[str] = ()
    """Only cases that carry one of these tags."""
    shard: str | None = None
    """`I/N`: only the cases that belong to the I-th of N shards (`engine/sharding.py`), of what the other options choose."""
    retry_errors: int = 0
    """Further attempts at a trial that ended in an infrastructure error."""
    fail_fast: bool = False
    """Stop after the first case that did not pass."""
    max_failures: int | None = None
    """Stop after so many cases that did not pass."""
    max_tokens: int | None = None
    """Stop when the agent has reported so many tokens."""
    max_cost: float | None = None
    """Stop when so many US dollars are spent: on judges, played users and, as far as it is known, the agent."""
    max_judge_calls: int | None = None
    """Ask judges at most so often."""
    budget: RunBudget | None = None
    """Keeps the two limits before this; whoever calls a model asks it. `None`: there are none."""
    max_time: float | None = None
    """Stop after so many seconds; trials under way get a few more to finish."""
    max_text: int = MAX_TEXT
    """Characters that one text of an agent may have; longer ones are cut, and say so. All texts and media of a turn
    together may have eight times as many."""
    max_events: int = MAX_EVENTS
    """Events that an agent may emit in one turn; one that does not stop by then is an error."""
    stop: StopRequest | None = None
    """Lets somebody else end the run early, in order."""
    judges: Judges | None = None
    """Whom metrics ask that ask a language model; `None`: nobody, and such metrics are refused."""
    users: Users | None = None
    """Who plays the users of scenarios; `None`: nobody, where recorded evidence is judged."""
    compat: str | None = None
    """`adk`: score every metric exactly as google-adk does."""
    setup: Callable[..., Any] | None = None
    """Called before each trial; may take `case` and `session`; plain or async."""
    teardown: Callable[..., Any] | None = None
    """Called after each trial, whatever came of it."""
    keep_evidence: Literal["all", "failures"] = "all"
    explain: Literal["all", "failures"] = "failures"

    @property
    def most_aside(self) -> int:
        """Trials that may wait for judges while others have their places; none where the first failure may end it all."""
        return 0 if self.fail_fast or self.max_failures is not None else MOST_ASIDE

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with the reason when no judge will be asked any more: a cap is reached, or it refuses."""
        if self.budget is not None:
            self.budget.listen(tell)
        if self.judges is not None:
            self.judges.listen(tell)

    def problems(self) -> list[SetupError]:
        """Return what is wrong with these options."""
        return [SetupError(message) for message in self._wrong().values()]

    def usable(self) -> RunOptions:
        """Return these options with the default in place of each that is wrong, to find out what else is."""
        defaults = RunOptions()
        return replace(self, **{name: getattr(defaults, name) for name in self._wrong()})

    def _wrong(self) -> dict[str, str]:
        wrong: dict[str, str] = {}
        for name, least in _LEAST.items():
            value = getattr(self, name)
            may_be_none = name in _MAY_BE_NONE
            if problem := count_problem(value, least, MOST.get(name, LARGEST), may_be_none=may_be_none):
                wrong[name] = f"{name} must be {problem}"
        for name in ("timeout", "trial_timeout", "max_time", "max_cost"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and 0 < value <= LARGEST):
                unit = "US dollars" if name == "max_cost" else "seconds"
                limit = "at most 2**63 - 1" if _is_number(value) and value > 0 else "above 0"
                wrong[name] = f"{name} must be a number of {unit} {limit}, got {shown(value)}"
        for name in ("keep_evidence", "explain"):
            if (value := getattr(self, name)) not in ("all", "failures"):
                wrong[name] = f"{name} must be 'all' or 'failures', got {value!r}"
        if self.shard is not None:
            try:
                parse_shard(self.shard)
            except SetupError as problem:
                wrong["shard"] = str(problem)
        if self.compat not in (None, "adk"):
            wrong["compat"] = f"compat knows only 'adk', got {self.compat!r}"
        return wrong


_LEAST = {
    "num_runs": 1, "concurrency": 1, "limit": 1, "retry_errors": 0, "max_failures": 1, "max_tokens": 1,
    "max_judge_calls": 1,    "max_text": 1, "max_events": 1,
}  # fmt: skip
MOST = {"num_runs": 1_000_000, "concurrency": 10_000, "retry_errors": 1_000}
"""What is planned or started at once for each of these takes memory: what is more is a slip of the pen."""
LARGEST = 2**63 - 1
"""The largest whole number that a store and other programs read back."""
_MAY_BE_NONE = frozenset({"num_runs", "limit", "max_failures", "max_tokens", "max_judge_calls"})


def count_problem(value: object, least: int, most: int, *, may_be_none: bool = False) -> str:
    """Return what a whole number must be and what it is; empty where it is in its range."""
    if value is None and may_be_none:
        return ""
    if not isinstance(value, int) or isinstance(value, bool):
        return f"a whole number, got {value!r}"
    if value < least:
        return f"at least {least}, got {shown(value)}"
    if value > most:
        return f"at most {'2**63 - 1' if most == LARGEST else f'{most:,}'}, got {shown(value)}"
    return ""


def shown(value: object) -> str:
    """Return a value for a message; Python refuses to write whole numbers of thousands of digits."""
    return "a larger one" if isinstance(value, int) and abs(value) > 10**100 else repr(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
