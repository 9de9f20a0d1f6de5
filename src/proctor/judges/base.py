"""The contract of judging: one question with its data, asked several times, and the votes that came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from proctor.common.prompts import Prompt
from proctor.models.base import Reply, Usage
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.model_usage import Spent

V = TypeVar("V")
"""What one answer comes to: `True`, a number, a verdict for each rubric …"""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that the judge looks at: from an agent, a user, a tool, a file. Data, never an order."""

    label: str
    """What it is, as the prompt calls it (`final answer`); ours, never theirs."""
    text: str


class UnusableAnswerError(ValueError):
    """A judge answered, and its answer is none: not of the form asked for, or incomplete. It may be asked again.

    The message is told to the model, so it says in our own words what was wrong, and repeats nothing of the answer.
    """


@dataclass(frozen=True, slots=True)
class AnswerForm(Generic[V]):
    """What an answer must look like."""

    name: str
    """A word for it, as providers want for a schema or a tool: letters, digits, `_`."""
    schema: Mapping[str, Any]
    """JSON Schema (an object, no additional properties, everything required): what providers can enforce."""
    read: Callable[[Any], V]
    """From the data to what it comes to; raises `UnusableAnswerError` for whatever does not say it plainly. The data
    is of the form that `schema` says: that is checked before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[V]):
    """One thing that a judge is asked."""

    metric: str
    prompt: Prompt
    passages: Sequence[Passage]
    form: AnswerForm[V]
    turn: int | None = None
    """The turn that it is about, from 0; for messages."""


@dataclass(slots=True, kw_only=True)
class Vote(Generic[V]):
    """One sample: the verdict, or why there is none."""

    verdict: V | None = None
    rationale: str = ""
    """Why, as the model says it: the field `rationale` of its answer."""
    problem: Failure | None = None
    """Why there is no verdict; `where` is `judge`."""
    answers: list[str] = field(default_factory=list)
    """What the model answered, as it came: more than one where it had to be asked again."""
    model: str = ""
    cached: bool = False
    """Whether it was known from before, and cost nothing now."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; `None` where not known."""
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Ballot(Generic[V]):
    """The votes on one question."""

    votes: list[Vote[V]]
    planned: int
    """How many were to be asked for at most; fewer votes than that mean that the rest could not have changed it."""
    is_decided: bool
    """Whether the votes suffice: too few without a verdict are missing to change the outcome, or half of all planned
    ones gave one. If not, nothing may be read from `verdicts`: the score is an error, `undecided(ballot)`."""
    model: str = ""
    prompt: str = ""
    """The hash of the prompt."""
    signs: tuple[str, ...] = ()
    """What in the passages looks like an attempt to talk to the judge."""

    @property
    def verdicts(self) -> list[V]:
        """Return the verdicts that there are, in order."""
        return [vote.verdict for vote in self.votes if vote.verdict is not None]


Settled = Callable[[Sequence[V], int], bool]
"""Tells from the verdicts so far, and from how many more may come, that these could not change the outcome."""


class Judge(Protocol):
    """Asks one model for verdicts, under one criterion."""

    model: str
    """As users name it."""
    notes: Sequence[str]
    """What a person should know about how it is asked: settings that its provider does not have."""

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        """Ask for up to `samples` verdicts (default: the criterion's `num_samples`).

        Never raises for what a model does: a vote without a verdict says why.
        """
        ...


class PromptedJudge(Judge, Protocol):
    """A judge that also answers prompts which a user's own metric writes, and reads."""

    async def answer(self, prompt: str) -> Reply:
        """Return one reply, as text.

        Raises:
            ModelError: there is none.
        """
        ...


class JudgeSource(Protocol):
    """Who has a judge for every criterion."""

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> Judge:
        """Return the judge of a criterion. `stated`: whether the criterion names its model itself.

        Raises:
            SetupError: no such model, no key for it, an extra that is missing.
        """
        ...


class Judges(JudgeSource, Protocol):
    """All judges of a run: they share what was asked before, what may be asked at once, and what it may cost."""

    def remember(self, cache: AnswerCache) -> None:
        """Look there for answers before a model is asked, and keep there what it answers."""
        ...

    def spending(self) -> list[Spent]:
        """Return what they took so far, by model."""
        ...

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with the reason when a judge will not be asked any more: whatever waits for it is in vain."""
        ...

    async def close(self) -> None:
        """Let go of connections, when the run is over."""
        ...


class AnswerCache(Protocol):
    """Keeps what judges answered, by what they were asked; stores do this for a run and for those after it."""

    def get(self, key: str) -> bytes | None:
        """Return what was kept under `key`."""
        ...

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; returns at once."""
        ...
