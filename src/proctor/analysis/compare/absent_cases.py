"""Which cases that only one of two runs has are missing verdicts of the other run, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proctor.schema.results.manifest import Manifest, SetManifest

LEFT_OUT = "left out of the run"
"""The reason of a case that a run left out because of an option."""
_CHOOSES_CASES = ("limit", "tags", "changed_since", "shard")
"""The options that leave out cases without a name for each. The manifest of a joined run has no `shard`: it has all cases."""


@dataclass(frozen=True, slots=True)
class AbsentCases:
    """Which cases that only the other run has are missing verdicts of a run."""

    left_out: bool = False
    """Whether the run left out cases of its sets because of an option (`--limit`, `--tag` …)."""
    sets: frozenset[str] = frozenset()
    """The ids of the other run's eval sets that the run could not run, or may not have been able to."""
    unread: str = ""
    """Which sets could not be run."""
    unknown: tuple[str, ...] = ()
    """The sets that could not be run, and of whose files the other run has no set."""

    def reason(self, eval_set_id: str) -> str:
        """Return why a case of this set is missing; empty if it is just not part of the run."""
        if eval_set_id in self.sets:
            return self.unread
        return LEFT_OUT if self.left_out else ""


NONE_ABSENT = AbsentCases()
"""Cases that only the other run has are not part of the run."""


def absent_cases(run: Manifest, other: Manifest) -> AbsentCases:
    """Return which cases that only `other` has are missing verdicts of `run`.

    The id of a set that cannot be read is unknown: its file tells which set of `other` it is. If `other` has no set of this
    file, for example because a baseline names no files, any set that only `other` has may be this set. If `other` could not
    run this file either, it is no other set.
    """
    there = _read_sets(other)
    unknown = run.unread_sets.keys() - {one.path for one in there}
    may_be_any = unknown - other.unread_sets.keys()
    may_be = {one.eval_set_id for one in there if may_be_any or one.path in run.unread_sets}
    only_other = Counter(one.eval_set_id for one in there)
    only_other.subtract(one.eval_set_id for one in _read_sets(run))
    lost = frozenset(name for name in may_be if only_other[name] > 0)
    return AbsentCases(_left_out_cases(run), lost, unread_text(run.unread_sets), tuple(sorted(unknown)))


def unread_causes(run: Manifest) -> dict[str, str]:
    """Return the ids of the eval sets that could not be run, each with the cause in one line."""
    return {name: " ".join(failure.cause.split()) for name, failure in run.unread_sets.items()}


def unread_text(names: Collection[str]) -> str:
    """Return that these sets could not be run; empty if there are none."""
    return f"{', '.join(names)} could not be run" if names else ""


def _read_sets(run: Manifest) -> list[SetManifest]:
    return [one for one in run.sets if one.failure is None]


def _left_out_cases(run: Manifest) -> bool:
    """Return whether a run left out cases of its sets by an option."""
    return "--failed" in run.command or any(run.options.get(name) for name in _CHOOSES_CASES)
