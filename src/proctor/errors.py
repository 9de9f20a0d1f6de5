"""Everything Proctor raises on purpose.

::

    ProctorError
    ├── SetupError              the user can fix it; shown without a traceback, exit code 2, nothing was run
    │   ├── SetupProblems       several at once: all that is wrong with a run, before the first agent call
    │   ├── EvalFileError       a file is not what it should be; carries every problem with its place
    │   ├── NothingToRunError   nothing is wrong, and of what was chosen no case is left (a shard, changed cases)
    │   ├── UnknownNameError    no metric, agent, report or case of that name
    │   ├── MissingExtraError   an optional package is not installed
    │   ├── AgentLoadError      the agent under test could not be loaded
    │   ├── CriterionError      a criterion does not fit its metric
    │   ├── SettingsError       proctor.toml or [tool.proctor] says something that cannot be
    │   └── StoreError          the store cannot be used: not there, foreign, damaged, read-only, full, taken
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

    Whoever knows more than the message says it by attributes, for `proctor check` to point at the very line.
    """

    file: str = ""
    """Its document, as messages name it."""
    path: tuple[str | int, ...] = ()
    """What it is about: keys and positions in its document, as in `("criteria", "exact_match")`."""
    parts: Sequence[str] = ()
    """The single problems, each as `place below path: message`, where there may be several."""
    is_mistake = True
    """False where nothing is wrong with what was written: this version, or this environment, cannot do it."""


class SetupProblems(SetupError):  # noqa: N818 - it is several errors, and reads so
    """All set-up problems of a run, found before the first agent call.

    `problems` holds one error per problem, in the order they were found.
    """

    def __init__(self, problems: Sequence[SetupError]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class EvalFileError(SetupError):
    """A file could not be read as what it should be.

    `problems` holds every problem of the file; each one has `severity`, `file`, `line`, `column`, `field`,
    `message` and `hint`.
    """

    def __init__(self, message: str, problems: Sequence[Any] = ()) -> None:
        self.problems = list(problems)
        super().__init__(message)


class NothingToRunError(SetupError):
    """Nothing is wrong with what was asked for, and it leaves no case to run: an empty shard, no case that changed.

    Never a result, for a result without cases says nothing; the command line ends with 0 and says why.
    """


class UnknownNameError(SetupError):
    """No metric, agent, report, case … of that name; the message names the closest one."""


class MissingExtraError(SetupError):
    """An optional package is needed and not installed; the message says what to install."""

    is_mistake = False


class AgentLoadError(SetupError):
    """The agent under test could not be loaded; the message carries its own cause."""


class CriterionError(SetupError):
    """A criterion does not fit its metric: a misspelled option, a threshold out of range, a missing rubric."""


class SettingsError(SetupError):
    """The project's settings (`proctor.toml`, `[tool.proctor]`) are not usable."""


class StoreError(SetupError):
    """The store cannot be opened, read or written; the message names the file and what to do.

    Raised before a run it is a set-up error; while a run is under way it ends the run, with all before it kept.
    """


class RunInUseError(StoreError):
    """Another process writes the run: it can be named again when that process has ended."""


class EvalError(ProctorError):
    """Something under evaluation failed. It becomes an *error* outcome, never a score."""


class AgentError(EvalError):
    """The agent under test raised, timed out, or broke its contract."""

    infrastructure = False
    """About connections, rate limits, servers or time, so that another attempt may end better."""


class AgentUnreachableError(AgentError):
    """There was no connection to an agent elsewhere, or its server was too busy to take the request."""

    infrastructure = True


class AgentTruncatedError(AgentError):
    """An agent elsewhere began to answer, and its answer broke off before its end."""

    infrastructure = True


class AgentCrashedError(AgentError):
    """The process that an agent runs in ended before its answer did."""


class AgentRaisedError(AgentError):
    """An agent elsewhere said that it failed. `type` is the class or code of its error, in its own words.

    From a worker of our own come the `traceback` in it, too, and whether it is a matter of `infrastructure`.
    """

    def __init__(
        self,
        message: str,
        *,
        type: str = "",  # noqa: A002 - the word of `Failure`
        traceback: str | None = None,
        infrastructure: bool = False,
    ) -> None:
        self.type, self.traceback, self.infrastructure = type, traceback, infrastructure
        super().__init__(message)


class MetricError(EvalError):
    """A metric raised or gave no usable answer."""


class JudgeError(EvalError):
    """A judge model could not be asked, or gave no usable answer."""


class SimulatorError(EvalError):
    """The user simulator failed; not the agent's fault."""


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return ` Did you mean 'x'?` for the closest of `known`, or an empty string."""
    close = get_close_matches(name, known, n=1) or [
        one for one in known if one.lower() == name.lower().rpartition(".")[2]
    ]
    return f" Did you mean {close[0]!r}?" if close else ""


def unknown_name(kind: str, name: str, known: Collection[str]) -> UnknownNameError:
    """Build the error for a name that nothing answers to, with the closest name and the list of known ones."""
    listed = ", ".join(sorted(known)) or "none"
    return UnknownNameError(f"No {kind} named {name!r}.{did_you_mean(name, known)} Known: {listed}.")
