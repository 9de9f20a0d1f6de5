"""Where the cases of a run come from, and which of them a shard has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from proctor.errors import SetupError, did_you_mean
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig


class CaseSource(Protocol):
    """An eval set whose cases are read one at a time, so that a large one is never in memory whole."""

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        ...

    @property
    def label(self) -> str | None:
        """The path to print; `None` for a set made in Python."""
        ...

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        ...

    def case(self, index: int) -> EvalCase:
        """Read one case."""
        ...

    def where(self, index: int) -> str:
        """`file:line` of a case; empty for a set made in Python."""
        ...

    def __iter__(self) -> Iterator[EvalCase]:
        """Read every case once, in order."""
        ...


@dataclass(slots=True)
class SetRequest:
    """One set as the caller wants it run."""

    source: CaseSource
    config: EvalConfig
    config_source: str
    only: Collection[str] = ()
    """Case ids; empty for all."""
    num_runs: int | None = None
    """Trials of each case if they exist already; `None`: options or config determine their number."""


class EvalSetSource:
    """The source of cases of an `EvalSet` made in Python.

    Raises:
        SetupError: two cases share an id.
    """

    label: str | None = None

    def __init__(self, eval_set: EvalSet, *, warnings: Sequence[str] = ()) -> None:
        """Keep the set without copying its cases, and the warnings about the data that it was read from."""
        self.warnings = warnings
        self._cases = eval_set.eval_cases
        self._ids = [case.eval_id for case in self._cases]
        self.eval_set_id = eval_set.eval_set_id
        seen: dict[str, int] = {}
        for index, eval_id in enumerate(self._ids):
            if eval_id in seen:
                raise SetupError(
                    f"eval set {self.eval_set_id!r}: duplicate case id {eval_id!r} (cases {seen[eval_id]} and {index})"
                )
            seen[eval_id] = index

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        return self._ids

    def case(self, index: int) -> EvalCase:
        """Return one case."""
        return self._cases[index]

    def where(self, index: int) -> str:
        """Return an empty text: the case has no file."""
        return ""

    def __iter__(self) -> Iterator[EvalCase]:
        return iter(self._cases)


MOST_SHARDS = 10_000
"""Shards that a run may be cut into."""

_FORM = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` (from 1) of `count`.

    The hash of the ids of a case and its set determines its shard: other cases of the set and the machine do not
    matter. The shards of a large set differ in size by a few times the square root of their size; a shard of a small
    set may be empty.
    """

    number: int
    count: int

    def holds(self, eval_set_id: str, eval_id: str) -> bool:
        """Return whether a case belongs to this shard."""
        key = f"{len(eval_set_id)}:{eval_set_id}{eval_id}".encode("utf-8", "surrogatepass")
        hashed = blake2b(key, digest_size=8).digest()
        return int.from_bytes(hashed, "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: object) -> Shard:
    """Read `2/4`: the second of four.

    Raises:
        SetupError: the text has another form.
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count <= MOST_SHARDS:
        raise SetupError(
            f"shard must be I/N, the I-th of N shards counted from 1 (N at most {MOST_SHARDS:,}), for example 2/4; got {text!r}"
        )
    return Shard(number, count)


def share_text(shard: str, here: int, elsewhere: int) -> str:
    """Return a sentence on the share of the cases that this run has; other shards have the rest."""
    return f"shard {shard}: {here or 'none'} of {here + elsewhere} cases; the other shards run the rest"


def unknown_ids(entry: SetRequest) -> list[SetupError]:
    """Report an empty set, and requested ids that the set does not have."""
    known = entry.source.ids()
    if not known:
        return [SetupError(f"{entry.source.label or entry.source.eval_set_id}: the eval set has no cases")]
    known_ids = set(known) if entry.only else ()
    return [
        SetupError(
            f"{entry.source.label or entry.source.eval_set_id}: no case {eval_id!r}."
            f"{did_you_mean(eval_id, known)} Cases: {first_names(known)}."
        )
        for eval_id in entry.only
        if eval_id not in known_ids
    ]


def tags_of(case: EvalCase) -> list[str]:
    """Return the tags of a case."""
    tags = (case.model_extra or {}).get("tags") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]


def first_names(names: Sequence[str], most: int = 10) -> str:
    """List the first few of some names, and how many there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
