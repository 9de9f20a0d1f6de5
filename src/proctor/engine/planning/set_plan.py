"""One eval set of a run: where its cases come from, which of them run, and what they assert."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

from proctor.engine.planning.bound_metric import BoundMetric, on_opening
from proctor.errors import SetupError, did_you_mean
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.run_result import SetSummary
from proctor.schema.results.score import TrialRule
from proctor.schema.serialize import HASH_BYTES


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
        positions: dict[str, int] = {}
        for index, eval_id in enumerate(self._ids):
            if eval_id in positions:
                raise SetupError(
                    f"eval set {self.eval_set_id!r}: duplicate case id {eval_id!r} (cases {positions[eval_id]} and {index})"
                )
            positions[eval_id] = index

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


# --- What the cases of a set assert -----------------------------------------------------------------------------------


NO_GATE = "nothing decides it: the criteria have no gating metric, and the case states no final session state"


NEGATIVE_ONLY = "negative only: an agent that does nothing passes it"
ASSERTS_NOTHING = "asserts nothing, so an agent that does nothing passes it"
REMEDIES = (
    "`proctor record` or `proctor bless` the answers and calls of a run, write a rubric, a `final_session_state` "
    "(YAML: `final_state`) or, where no tool may be called, `tool_uses: []` (YAML: `tools: []`); `--allow-unasserted` runs such cases as "
    "*skipped*"
)


@dataclass(slots=True)
class Assertions:
    """The cases of one set, sorted by what they assert."""

    allowed: bool = False
    """Whether a case that asserts nothing runs, and is recorded as skipped (`allow_unasserted`)."""
    negative: list[int] = field(default_factory=list)
    """Indexes of the cases that are negative only."""
    as_in_adk: list[int] = field(default_factory=list)
    """Indexes of the cases that assert nothing and keep the verdict of the implementation that `compat` names."""
    skipped: dict[int, str] = field(default_factory=dict)
    """Indexes of the cases that run and are skipped, each with the reason."""
    unasserted: dict[int, str] = field(default_factory=dict)
    """Indexes of the cases that are refused, unless they are allowed, each with the reason."""

    def groups(self) -> Iterator[tuple[str, list[int]]]:
        """Yield a warning and its cases: those that run although they assert nothing, or only something negative."""
        if self.negative:
            yield NEGATIVE_ONLY, self.negative
        if self.as_in_adk:
            yield f"{ASSERTS_NOTHING}; `compat` keeps the original's verdict", self.as_in_adk

    def skips(self) -> Iterator[tuple[str, list[int]]]:
        """Yield a reason and the cases that are skipped for it."""
        by_reason: dict[str, list[int]] = {}
        for index, reason in self.skipped.items():
            by_reason.setdefault(f"{reason}; it is skipped and not counted", []).append(index)
        yield from by_reason.items()


# --- One set, ready to run --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class SetPlan:
    """One set, ready to run."""

    source: CaseSource
    summary: SetSummary
    metrics: list[BoundMetric]
    config: EvalConfig
    cases: list[int] = field(default_factory=list)
    """Indexes of the cases to run, in order."""
    num_runs: int = 1
    """Trials of each case."""
    hashes: bytearray = field(default_factory=bytearray)
    """The hashes of the contents of these cases, 16 bytes each; empty without a store."""
    elsewhere: int = 0
    """Cases that other shards run."""
    assertions: Assertions | None = None
    """What its cases assert; `None` in a plan that is made of recorded evidence alone."""
    unread: Counter[str] = field(default_factory=Counter)
    """Key that no metric reads -> how many cases state it."""
    warnings: Sequence[SetupError] = ()
    """Warnings about the criteria."""
    rule: TrialRule | None = field(init=False)
    """What share of a case's trials must pass; `None`: every metric's mean over them decides."""
    asks_judges: bool = field(init=False)
    """Whether any metric asks a language model."""
    _without_state: list[BoundMetric] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the properties that every case reads."""
        self.rule = self.config.rule_for(self.num_runs)
        self.asks_judges = any(metric.judge for metric in self.metrics)
        self._without_state = [bound for bound in self.metrics if "expected_state" not in bound.facts.needs]

    def metrics_for(self, case: EvalCase) -> list[BoundMetric]:
        """Return the metrics that apply to `case`."""
        metrics = self.metrics if case.final_session_state else self._without_state
        return on_opening(metrics, case) if case.opening else metrics

    def content_hash(self, ordinal: int) -> str:
        """Return the hash of the content of the case number `ordinal` of those to run, in hex."""
        return self.hashes[HASH_BYTES * ordinal : HASH_BYTES * (ordinal + 1)].hex()

    def skip_reason(self, index: int) -> str:
        """Return why the case at `index` is skipped; empty if its metrics decide."""
        return self.assertions.skipped.get(index, "") if self.assertions is not None else ""

    @property
    def trials(self) -> int:
        """How many trials will be run."""
        return len(self.cases) * self.num_runs


# --- Problems and warnings about single cases, each with the place of its case ----------------------------------------


def in_case(problem: str, source: CaseSource, index: int, more: str = "") -> SetupError:
    """Return a problem of one case, with the place of the case."""
    where = source.where(index) or source.eval_set_id
    error = SetupError(f"{where}: case {source.ids()[index]!r}{more}: {problem}")
    error.file, error.path = source.label or "", ("eval_cases", index)
    error.parts = [problem]
    return error


def and_others(source: CaseSource, indexes: Sequence[int]) -> str:
    """Name the other cases of a warning; empty if there are none."""
    if not indexes:
        return ""
    ids = source.ids()
    return f" (and {len(indexes)} more of {source.eval_set_id}: {first_names([repr(ids[index]) for index in indexes])})"


def assertion_warnings(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Warn about the cases that run although they assert nothing, or only something negative; once for each set."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.groups() if plan.assertions else ())


def skip_notes(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Name the cases that the options skip; once for each set and reason."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.skips() if plan.assertions else ())


def _sentences(plan: SetPlan, groups: Iterable[tuple[str, list[int]]]) -> Iterator[str]:
    for message, (first, *others) in groups:
        yield str(in_case(message, plan.source, first, and_others(plan.source, others)))


def remedies_for(plans: Iterable[SetPlan]) -> list[SetupError]:
    """Name the ways to fix the cases that are refused because they assert nothing, if there are any."""
    refusing = (plan.assertions for plan in plans if plan.assertions and not plan.assertions.allowed)
    return remedies() if any(set(each.unasserted.values()) - {NO_GATE} for each in refusing) else []


def remedies() -> list[SetupError]:
    """Name the ways to fix a case that asserts nothing."""
    return [SetupError(f"A case must assert something: {REMEDIES}.")]


# --- Shards -----------------------------------------------------------------------------------------------------------


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
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count <= MOST_SHARDS:
        raise SetupError(
            f"shard must be I/N, the I-th of N shards counted from 1 (N at most {MOST_SHARDS:,}), for example 2/4; got {text!r}"
        )
    return Shard(number, count)


_RUN_NAME = re.compile(r"(?!(?i:latest|previous)\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def shard_problem(_name: str, value: object) -> str:
    """Return the error message for an invalid shard; empty if it is valid."""
    try:
        parse_shard(value)
    except SetupError as problem:
        return str(problem)
    return ""


def run_name_problem(_option: str, name: object) -> str:
    """Return why `name` cannot be the name of a run; empty if it can."""
    if isinstance(name, str) and _RUN_NAME.fullmatch(name):
        return ""
    return (
        "join must be a name for the run: 1 to 64 letters, digits, `.`, `_` and `-`, for example nightly-42, "
        f"and not `latest` or `previous`; got {name!r}"
    )


def shard_text(shard: str, here: int, elsewhere: int) -> str:
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


def first_names(names: Sequence[str], most: int = 10) -> str:
    """List the first few of some names, and how many there are."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text}, … ({len(names)} in all)"
