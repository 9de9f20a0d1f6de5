"""Compare an audit with an earlier one: which mutants did it catch that survive now?

The same seed makes the same mutants of the same conversation. Mutants of both audits are therefore compared one by one, and
nothing is estimated. A case whose conversation changed has other mutants, which are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from proctor.common.safe_text import count_text
from proctor.errors import SetupError
from proctor.files.eval_sets.documents import read_document
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Role,
    Row,
    Table,
    TextSpan,
    TextStyle,
    text_line,
)
from proctor.schema.analysis.audit_result import AuditResult, CaseAudit, Fate

_FEW = 4
"""Mutants and cases that the report names."""
_NO_AUDIT = "expected what `proctor audit SET --json` writes"


class _Mutant(BaseModel):
    operator: str
    fate: Fate
    fault: str
    turn: int | None = None


class _Case(BaseModel):
    eval_id: str
    mutants: list[_Mutant]


class _Set(BaseModel):
    eval_set_id: str
    cases: list[_Case]


class AuditBaseline(BaseModel):
    """The parts of an earlier audit that are compared."""

    seed: int
    sets: list[_Set]
    path: str = ""


def load_baseline(path: str | Path, seed: int) -> AuditBaseline:
    """Read an earlier audit, which must have the same seed.

    Raises:
        SetupError: the file cannot be read, is no audit, or has other mutants.
    """
    document = read_document(Path(path))
    try:
        baseline = AuditBaseline.model_validate({**document.value, "path": str(path)})
    except (ValidationError, TypeError):
        raise SetupError(f"{path}: not an audit: {_NO_AUDIT}") from None
    if baseline.seed != seed:
        raise SetupError(
            f"{path}: its mutants are those of seed {baseline.seed}, and this audit has seed {seed}: add --seed {baseline.seed}"
        )
    return baseline


# --- Comparison ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MutantChange:
    """A mutant whose fate is another one than in the baseline."""

    eval_id: str
    place: str
    operator: str
    turn: int | None
    fault: str


@dataclass(slots=True)
class ClassChange:
    """What both audits catch of the mutants of one class that both have."""

    before: int = 0
    now: int = 0
    made: int = 0


@dataclass(slots=True)
class AuditChange:
    """The differences from an earlier audit."""

    baseline: str
    lost: list[MutantChange] = field(default_factory=list)
    """Mutants that were caught, and survive or cannot be scored now."""
    gained: list[MutantChange] = field(default_factory=list)
    """Mutants that survived, and are caught now."""
    without_mutants: dict[str, str] = field(default_factory=dict)
    """Cases that caught mutants and cannot be audited now, and why."""
    removed: list[str] = field(default_factory=list)
    """Cases that the sets no longer have. They do not make the audit worse."""
    classes: dict[str, ClassChange] = field(default_factory=dict)
    """The operators of the mutants that both audits have."""
    lost_classes: list[str] = field(default_factory=list)
    """Operators of which mutants were caught, and of which none is made now."""

    @property
    def is_worse(self) -> bool:
        """Whether the sets catch less: a mutant, all mutants of a case, or all mutants of a class."""
        return bool(self.lost or self.without_mutants or self.lost_classes)

    @property
    def compared(self) -> int:
        """The number of mutants that both audits have."""
        return sum(each.made for each in self.classes.values())


_Key = tuple[str, int | None, str, int]
"""Operator, turn and fault of a mutant, and its number among equal ones."""


def compare_with(baseline: AuditBaseline, audit: AuditResult) -> AuditChange:
    """Compare each mutant that both audits have.

    Raises:
        SetupError: they have no case in common.
    """
    change = AuditChange(baseline.path)
    now = {(one.eval_set_id, case.eval_id): case for one in audit.sets for case in one.cases}
    before = {(one.eval_set_id, case.eval_id): case for one in baseline.sets for case in one.cases}
    if not now.keys() & before.keys():
        raise SetupError(
            f"{baseline.path}: an audit of other cases: no case has the same id and the same `eval_set_id`"
        )
    for key, earlier in before.items():
        case = now.get(key)
        if case is None:
            change.removed.append(earlier.eval_id)
        else:
            _compare_case(change, case, _caught(earlier.mutants, audit.operators), audit)
    change.lost_classes = _lost_classes(before.values(), audit)
    return change


def _lost_classes(before: Iterable[_Case], result: AuditResult) -> list[str]:
    """Return the operators of which mutants were caught, and of which none is made now; none of a sample."""
    if result.judged is not None and result.judged.limit:
        return []
    caught_before = {each.operator for case in before for each in case.mutants if each.fate is Fate.CAUGHT}
    made_now = {each.operator for case in result.cases for each in case.mutants}
    return [name for name in result.operators if name in caught_before - made_now]


def _compare_case(
    change: AuditChange, case: CaseAudit, before: Mapping[_Key, bool], audit: AuditResult
) -> None:
    agents = audit.agent_names
    if case.problem and any(
        is_caught for (operator, *_), is_caught in before.items() if operator not in agents
    ):
        change.without_mutants[case.eval_id] = case.problem
    for key, is_caught in _caught(case.mutants, audit.operators).items():
        if key not in before:
            continue
        operator, turn, fault, _ = key
        counted = change.classes.setdefault(operator, ClassChange())
        counted.made, counted.before, counted.now = (
            counted.made + 1, counted.before + before[key], counted.now + is_caught,
        )  # fmt: skip
        if is_caught is not before[key]:
            changed = change.gained if is_caught else change.lost
            changed.append(MutantChange(case.eval_id, case.place, operator, turn, fault))


def _caught(mutants: Sequence[Any], operators: Mapping[str, Any]) -> dict[_Key, bool]:
    """Return whether each mutant is caught."""
    equal: Counter[tuple[Any, ...]] = Counter()
    caught: dict[_Key, bool] = {}
    for each in mutants:
        if each.operator in operators:
            words = (each.operator, each.turn, each.fault)
            caught[*words, equal[words]] = each.fate is Fate.CAUGHT
            equal[words] += 1
    return caught


# --- Report ----------------------------------------------------------------------------------------------------------


def change_data(change: AuditChange) -> dict[str, Any]:
    """Return it as plain data."""
    return {"is_worse": change.is_worse, "compared": change.compared, **asdict(change)}


def change_blocks(change: AuditChange, audit: AuditResult, style: TextStyle) -> Iterator[Block]:
    """Yield what an audit catches less than the baseline, and what it catches more."""
    yield text_line(change_sentence(change, audit), role="strong")
    changed = [(name, one) for name, one in change.classes.items() if one.before != one.now]
    if changed:
        yield Table(_CLASSES, [_class_row(audit.operators[name][0], one) for name, one in changed], indent=2)
    lost = change.lost if style.verbose else _one_of_each_class(change.lost)
    if lost:
        yield Table(_LOST, [_lost_row(each, audit) for each in lost], indent=2)
    if len(change.lost) > len(lost):
        yield text_line(f"  … and {len(change.lost) - len(lost):,} more (-v)")
    yield from _case_lines(change, audit)
    yield Gap(is_everywhere=True)


def _case_lines(change: AuditChange, result: AuditResult) -> Iterator[Block]:
    """Yield the cases and classes of the baseline that are not compared."""
    for eval_id, problem in change.without_mutants.items():
        yield text_line(f"{eval_id} can no longer be audited: {problem}", role="bad")
    if change.lost_classes:
        labels = ", ".join(result.operators[name][0] for name in change.lost_classes)
        yield text_line(f"no case has these faults any more: {labels}", role="bad")
    if change.removed:
        names = f"{', '.join(change.removed[:_FEW])}{', …' if len(change.removed) > _FEW else ''}"
        yield text_line(f"not compared, these cases are no longer there: {names}", role="dim")


def _one_of_each_class(lost: Sequence[MutantChange]) -> Sequence[MutantChange]:
    return [*{each.operator: each for each in reversed(lost)}.values()][::-1][:_FEW]


def change_sentence(change: AuditChange, audit: AuditResult) -> str:
    """Return in one sentence whether the sets catch less than before."""
    sets = "set catches" if len(audit.sets) == 1 else "sets catch"
    parts = [
        f"{count_text(len(items), noun)} {what}"
        for items, noun, what in (
            (change.lost, "mutant", f"that {change.baseline} caught {_verb(change.lost)} not caught now"),
            (change.without_mutants, "case", "can no longer be audited"),
            (
                change.lost_classes,
                "class",
                f"of which {change.baseline} caught mutants {_verb(change.lost_classes, 'has', 'have')} none now",
            ),
        )
        if items
    ]
    if parts:
        return f"This change lowers what the {sets}: {'; '.join(parts)}."
    same = f"every mutant that {change.baseline} caught is still caught"
    if change.gained:
        return f"This change raises what the {sets}: {len(change.gained):,} more, and {same}."
    return f"This change lowers nothing: {same} ({change.compared:,} are compared)."


def _verb(items: Sequence[Any], singular: str = "is", plural: str = "are") -> str:
    return singular if len(items) == 1 else plural


_CLASSES = (Column("class", is_name=True), Column("baseline", right=True), Column("now", right=True))
_LOST = (Column("case", is_name=True), Column("no longer caught"))


def _class_row(label: str, one: ClassChange) -> Row:
    role: Role = "bad" if one.now < one.before else "good"
    return Row(
        [
            [TextSpan(label)],
            [TextSpan(f"{one.before:,}/{one.made:,}")],
            [TextSpan(f"{one.now:,}/{one.made:,}", role)],
        ]
    )


def case_name(one: CaseAudit | MutantChange) -> str:
    """Return the id of a case, with its place if it has one."""
    return f"{one.eval_id} ({one.place})" if one.place else one.eval_id


def _lost_row(each: MutantChange, audit: AuditResult) -> Row:
    turn = "" if each.turn is None else f"turn {each.turn + 1}: "
    fault = f"{audit.operators[each.operator][0]}: {turn}{each.fault}"
    return Row([[TextSpan(case_name(each), is_data=True)], [TextSpan(fault)]])
