"""The contract of a store in which several processes can write one run, each a part of its cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from proctor.stores.base import Allotment, Caps, Committed, RunWriter, Store

if TYPE_CHECKING:
    from proctor.schema.results.manifest import Manifest, PlannedCase, RunSummary, ScoringManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMember:
    """One of several processes that write a run together, each a part of its cases."""

    part: int
    """From 1."""
    parts: int
    is_ready: bool
    """Whether it can begin: no member calls the agent before all are ready."""
    refusal: str
    """Why it cannot be part of this run; empty if it can."""
    is_complete: bool
    """Whether nothing is left to run in its part."""
    worker: str
    """The process that runs the part now, as text for people; empty if there is none."""
    trials: int
    """Attempts at trials whose evidence is on disk."""
    summary: RunSummary
    """The summary of the part."""


class Membership(Protocol):
    """The part that this process has taken in a run of several processes. Until the run begins, it can be left again."""

    run_id: str
    allotment: Allotment | None
    """What the part may spend; `None`: the run has no caps."""

    def refuse(self, why: str) -> None:
        """Report to the other members why this one cannot be part of the run, and leave."""
        ...

    def set_ready(self) -> None:
        """Declare that this member can begin."""
        ...

    def members(self) -> list[RunMember]:
        """Return all members that have joined; this process keeps its part meanwhile."""
        ...

    def leave(self) -> bool:
        """Leave the run before it begins; return `False` if it has begun, because all members are ready."""
        ...

    def release(self) -> None:
        """Let another process take the part; what it has written stays."""
        ...

    def writer(self, positions: Sequence[int], committed: Committed) -> RunWriter:
        """Return the writer of this part: the cases at `positions`. The last part that is complete completes the run."""
        ...


class SharedRuns(Protocol):
    """What a store has in addition if several processes can write one run."""

    def join(
        self,
        manifest: Manifest,
        cases: Iterable[PlannedCase],
        scoring: ScoringManifest,
        *,
        part: int,
        parts: int,
        caps: Caps | None = None,
    ) -> Membership:
        """Take one part of a run; the first process creates the run, with `cases` of all parts and its `caps`.

        Raises:
            SetupError: the run has ended, is of one process, or has another number of parts.
            RunInUseError: another process runs this part.
        """
        ...

    def members(self, run_id: str) -> list[RunMember]:
        """Return the processes that write a run together and have joined it; none if one process writes it."""
        ...

    def caps(self, run_id: str) -> Caps:
        """Return the caps of a run that is not complete: of several processes, or of one that was killed."""
        ...

    def set_caps(self, run_id: str, caps: Caps) -> None:
        """Replace the caps of a run; what was spent counts. Members that have joined keep theirs."""
        ...


def run_members(store: Store, run_id: str) -> list[RunMember]:
    """Return the processes that write a run together; none if the run is complete, or is of one process."""
    members: list[RunMember] = getattr(store, "members", lambda _: [])(run_id)
    return members
