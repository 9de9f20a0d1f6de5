"""The contract of a store that remembers which requests of LLM judges wait for a batch of a provider."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch of requests of judges, as it is recorded before its submission."""

    id: str
    """The name of the submission, which the provider keeps with the batch."""
    model: str
    """The name of the model, as users write it."""
    group: str
    """What the requests share, as the provider's client expects it."""
    created_at: float
    """Unix seconds."""
    secret: str
    """The random number from which the ids, tokens and ballot numbers of the requests are derived."""
    keys: tuple[str, ...]
    """The keys of the answers in the cache: hashes of the requests."""
    reference: str = ""
    """The provider's id of the batch; empty if the provider has not confirmed it."""
    is_being_submitted: bool = False
    """Whether another process may be submitting it at this moment; the store sets it."""


@runtime_checkable
class BatchStore(Protocol):
    """What a store has in addition if judges can be asked in batches."""

    def judge_batches(self) -> list[StoredBatch]:
        """Return the batches whose answers are not in the store yet, oldest first."""
        ...

    def add_judge_batch(self, batch: StoredBatch, known: Collection[str]) -> bool:
        """Record a batch before its submission; return `False`, and record nothing, if there is one whose id is not `known`."""
        ...

    def update_judge_batch(self, batch: StoredBatch) -> None:
        """Replace the record of a batch, if it is still there. Without keys it is deleted."""
        ...

    def keep_answers(self, run_id: str, answers: Mapping[str, bytes]) -> None:
        """Store answers of judges that a run uses; they are on disk on return."""
        ...
