"""Everything Proctor raises on purpose.

::

    ProctorError
    ├── SetupError              the user can fix it; shown without a traceback, exit code 2, nothing was run
    │   ├── SetupProblems       all configuration errors of a run, before the first agent call
    │   ├── EvalFileError       a file is not valid; carries every problem with its position
    │   ├── NothingToRunError   no error, but the selection contains no case (a shard, changed cases)
    │   ├── UnknownNameError    no metric, agent, report or case of that name
    │   ├── MissingExtraError   an optional package is not installed
    │   ├── AgentLoadError      the agent under test could not be loaded
    │   ├── CriterionError      a criterion does not fit its metric
    │   ├── SettingsError       proctor.toml or [tool.proctor] is not valid
    │   ├── NoLooksLeftError    the budget of looks at held-out cases is used up
    │   └── StoreError          the store cannot be used: missing, foreign, damaged, read-only, full, in use
    └── EvalError               something under evaluation failed; becomes data in a result
        ├── AgentError
        ├── MetricError
        ├── JudgeError
        └── SimulatorError
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any


class ProctorError(Exception):
    """Base of everything that Proctor raises on purpose."""


class SetupError(ProctorError):
    """Something the user can fix before a run; shown as a message, never as a traceback.

    Attributes carry details beyond the message, so that `proctor check` can point to the line.
    """

    file: str = ""
    """Its document, as messages name it."""
    path: tuple[str | int, ...] = ()
    """The location in its document: keys and positions, as in `("criteria", "exact_match")`."""
    parts: Sequence[str] = ()
    """The single problems, each as `place below path: message`, if there may be several."""
    is_mistake = True
    """False if the input is valid, but this version or this environment cannot process it."""


class SetupProblems(SetupError):  # noqa: N818 - it is a list of errors
    """All configuration errors of a run, found before the first agent call.

    `problems` holds one error per problem, in the order they were found.
    """

    def __init__(self, problems: Sequence[SetupError]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class EvalFileError(SetupError):
    """A file is not a valid document of the expected kind.

    `problems` holds every problem of the file; each one has `severity`, `file`, `line`, `column`, `field`,
    `message` and `hint`.
    """

    def __init__(self, message: str, problems: Sequence[Any] = ()) -> None:
        self.problems = list(problems)
        super().__init__(message)


class NothingToRunError(SetupError):
    """The selection is valid but contains no case: an empty shard, no changed case.

    It is an error because a result without cases would be meaningless. The command line exits with 0 and reports why.
    """


class UnknownNameError(SetupError):
    """No metric, agent, report, case … has that name; the message suggests the closest ones.

    `known` holds the names that exist, if the error was raised for a name of a registry.
    """

    def __init__(self, message: str, known: Collection[str] = ()) -> None:
        self.known = tuple(sorted(known))
        super().__init__(message)


class MissingExtraError(SetupError):
    """An optional package is not installed; the message names the package to install."""

    is_mistake = False


class AgentLoadError(SetupError):
    """The agent under test could not be loaded; the message carries its own cause."""


class CriterionError(SetupError):
    """A criterion does not fit its metric: a misspelled option, a threshold out of range, a missing rubric."""


class SettingsError(SetupError):
    """The project's settings (`proctor.toml`, `[tool.proctor]`) are not usable."""


class NoLooksLeftError(SetupError):
    """The budget of looks at held-out cases is used up: another look could accept a candidate by chance."""


class StoreError(SetupError):
    """The store cannot be opened, read or written; the message names the file and what to do.

    Before a run it is a configuration error. During a run it ends the run; everything before it is stored.
    """


class RunInUseError(StoreError):
    """Another process writes the run; try again after that process has ended."""

    may_have_died = False
    """Whether that process may have ended: it is on another machine, so that only its lease shows whether it lives."""


class EvalError(ProctorError):
    """Something under evaluation failed. It becomes an *error* outcome, never a score."""


class AgentError(EvalError):
    """The agent under test raised, timed out, or broke its contract."""

    infrastructure = False
    """Whether connections, rate limits, servers or a timeout caused the error, so that a retry may succeed."""


class AgentUnreachableError(AgentError):
    """A remote agent could not be reached, or its server was too busy."""

    infrastructure = True


class AgentTruncatedError(AgentError):
    """A remote agent began to answer, and the connection was lost before the end."""

    infrastructure = True


class AgentCrashedError(AgentError):
    """The process of an agent ended before its answer was complete."""


class AgentRaisedError(AgentError):
    """A remote agent reported an error. `type` is the class or code of the error, as the agent reports it.

    Proctor's worker processes also send the `traceback` and whether it is an `infrastructure` error.
    """

    def __init__(
        self,
        message: str,
        *,
        type: str = "",  # noqa: A002 - the name in `Failure`
        traceback: str | None = None,
        infrastructure: bool = False,
    ) -> None:
        self.type, self.traceback, self.infrastructure = type, traceback, infrastructure
        super().__init__(message)


class MetricError(EvalError):
    """A metric raised or gave no usable answer."""


class JudgeError(EvalError):
    """The model of an LLM judge failed, or gave no usable answer."""


class SimulatorError(EvalError):
    """The user simulator failed; not the agent's fault."""


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return ` Did you mean 'x'?` for the closest of `known`, or an empty string."""
    close = get_close_matches(name, known, n=1) or [
        other for other in known if other.lower() == name.lower().rpartition(".")[2]
    ]
    return f" Did you mean {close[0]!r}?" if close else ""


_MAX_LISTED = 12  # names in a message, if another place lists them
_LISTED_BY = {"metric": "proctor metrics", "app": "GET /list-apps"}
_A_TYPO = 0.85  # similarity from which only one name can be meant


def suggest_names(name: str, known: Collection[str]) -> str:
    """Return ` Did you mean 'x', 'y' or 'z'?` for names that are close to `name` or contain it, or an empty string."""
    close = get_close_matches(name, known, n=1, cutoff=_A_TYPO) or get_close_matches(name, known, n=3)
    if not close and len(name) > 2:
        containing = [other for other in known if name.lower() in other.lower()]
        close = sorted(containing, key=lambda other: (not other.startswith(name), other))[:3]
    if not close:
        return did_you_mean(name, known)
    *others, last = map(repr, close)
    return f" Did you mean {', '.join(others)} or {last}?" if others else f" Did you mean {last}?"


def unknown_name(kind: str, name: str, known: Collection[str]) -> UnknownNameError:
    """Build the error for an unknown name, with the closest known names, and with all of them or the place that lists them."""
    meant = suggest_names(name, known)
    every = f"Known: {', '.join(sorted(known)) or 'none'}."
    if len(known) > _MAX_LISTED and kind in _LISTED_BY:
        every = f"`{_LISTED_BY[kind]}` lists all {len(known)}."
    return UnknownNameError(f"No {kind} named {name!r}.{meant} {every}", known)
