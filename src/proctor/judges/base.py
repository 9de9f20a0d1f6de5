"""The contract of judges: a judge asks a model one question several times and returns the votes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from proctor.common.prompts import Prompt
from proctor.models.base import JsonSchema, Reply, Usage
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.model_usage import Spent

V = TypeVar("V")
"""The verdict of one answer: `True`, a number, a verdict for each rubric …"""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text for the judge from an agent, a user, a tool or a file. It is data, never an instruction."""

    label: str
    """The name of the passage in the prompt (`final answer`). Proctor's own text, never the agent's."""
    text: str


class UnusableAnswerError(ValueError):
    """The answer of a judge is incomplete or does not have the requested form. It may be requested again.

    The message goes back to the model, so it never quotes the answer.
    """


@dataclass(frozen=True, slots=True)
class AnswerForm(Generic[V]):
    """The form of an answer: its schema and its parser."""

    name: str
    """The name of the schema or tool for providers: letters, digits, `_`."""
    schema: JsonSchema
    """JSON Schema (an object, no additional properties, everything required), which providers can enforce."""
    read: Callable[[Any], V]
    """Return the verdict in an answer that is valid by `schema`; raise `UnusableAnswerError` if it is not clear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[V]):
    """A question for a judge."""

    metric: str
    prompt: Prompt
    passages: Sequence[Passage]
    form: AnswerForm[V]
    turn: int | None = None
    """The turn of the question, from 0, for messages."""


@dataclass(slots=True, kw_only=True)
class Vote(Generic[V]):
    """One sample: the verdict, or the reason why there is none."""

    verdict: V | None = None
    rationale: str = ""
    """The model's reason: the field `rationale` of its answer."""
    problem: Failure | None = None
    """Why the vote has no verdict; `where` is `judge`."""
    answers: list[str] = field(default_factory=list)
    """The raw answers of the model; several if an answer was unusable."""
    model: str = ""
    cached: bool = False
    """Whether the vote comes from the cache and cost nothing."""
    is_pending: bool = False
    """Whether the answer is requested in a batch and comes later."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; `None` if unknown."""
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Ballot(Generic[V]):
    """The votes on one question."""

    votes: list[Vote[V]]
    planned: int
    """The maximum number of votes. There are fewer if the others could not change the outcome."""
    is_decided: bool
    """Whether the missing votes could not change the outcome. If not, ignore `verdicts`: the score is an error,
    `undecided_failure(ballot)`."""
    model: str = ""
    prompt: str = ""
    """The hash of the prompt."""
    signs: tuple[str, ...] = ()
    """Signs of prompt injection in the passages."""

    @property
    def verdicts(self) -> list[V]:
        """The verdicts of the votes that have one, in order."""
        return [vote.verdict for vote in self.votes if vote.verdict is not None]


Settled = Callable[[Sequence[V], int], bool]
"""Return whether so many further verdicts could not change the outcome of the verdicts so far."""


class Judge(Protocol):
    """Requests verdicts of one model for one criterion."""

    model: str
    """The name of the model, as the user writes it."""
    notes: Sequence[str]
    """Warnings for the user, such as settings that the provider ignores."""

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        """Request up to `samples` verdicts (default: the criterion's `num_samples`).

        A failure of the model is not raised: it is the `problem` of its vote.
        """
        ...


class PromptedJudge(Judge, Protocol):
    """A judge that also answers free prompts of a custom metric."""

    async def answer(self, prompt: str) -> Reply:
        """Return one reply as text.

        Raises:
            ModelError: the request failed.
        """
        ...


class JudgeSource(Protocol):
    """The source of the judges of a run."""

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> Judge:
        """Return the judge of a criterion. `stated`: whether the criterion names its own model.

        Raises:
            SetupError: the model is unknown, or its key or an extra is missing.
        """
        ...


class Judges(JudgeSource, Protocol):
    """All judges of a run. They share the answer cache, the concurrency limit and the budget."""

    def remember(self, cache: AnswerCache) -> None:
        """Use this cache for the answers of models."""
        ...

    def spending(self) -> list[Spent]:
        """Return the usage so far, by model."""
        ...

    def listen(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the reason when the run gives up on a judge."""
        ...

    async def close(self) -> None:
        """Close connections at the end of the run."""
        ...


class AnswerCache(Protocol):
    """Keeps judges' answers by a key of the request. Stores implement it for this run and later ones."""

    def get(self, key: str) -> bytes | None:
        """Return what was kept under `key`."""
        ...

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; returns at once."""
        ...
