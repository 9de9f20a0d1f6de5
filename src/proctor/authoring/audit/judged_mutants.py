"""Ask the judges of the config about the mutants that no other metric catches: which faults do they notice?

A judge costs money. The mutants are therefore drawn in a random order, and those are left out whose calls the limit does not cover
any more. A mutant that another metric catches needs no call. It counts only up to that place of the order, so that the sample has
the shares of all mutants.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any

from proctor.authoring.audit.audit_case import (
    AuditedCase,
    CaseScorer,
    Scored,
    Survivor,
    contradiction,
    fate_of,
)
from proctor.authoring.audit.make_mutants import OPERATORS
from proctor.common.safe_text import count_text
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.reports.content.summary import bounds, percent
from proctor.reports.content.symbols import UNICODE
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Line,
    Role,
    Row,
    Table,
    TextSpan,
    text_line,
)
from proctor.runs.estimate import votes_of
from proctor.schema.analysis.audit_result import (
    ENOUGH,
    AuditResult,
    Fate,
    JudgeAudit,
    JudgedMutants,
    MutantFate,
)
from proctor.schema.results.score import Outcome
from proctor.stats.agreement import Confusion, Estimate, corrected_rate, true_fail_rate, true_pass_rate

DEFAULT_CALLS = 200
"""The most calls of judges, unless a limit is given."""
_AT_ONCE = 8
_NOT_ASKED = "not asked: "
"""The beginning of an error that means that the budget refused a call."""

_OFTEN_UNREAD = ("calls", "state")
_OPERATORS_OF = {
    family: {each.name for each in OPERATORS.values() if each.family == family} for family in _OFTEN_UNREAD
}

Order = Sequence[tuple[int, int]]
"""Mutants in the order of the sample: the number of the case, and the number of the mutant in it."""


async def judge_mutants(
    audit: AuditResult,
    cases: Sequence[AuditedCase],
    limit: int,
    *,
    seconds: float | None,
    notify: Callable[[str], None],
) -> list[AuditedCase]:
    """Ask the judges, and fill in what they noticed; return the cases with the mutants that survive now.

    `notify` gets the number of calls before the first one.
    """
    sample = _Sample(cases, audit.seed, limit)
    notify(sample.estimate())
    verdicts = await _ask(cases, sample, seconds)
    sample.truncate_before(verdicts.is_refused)
    answered = sum(map(_is_answered, verdicts.mutants.values()))
    audit.judged = JudgedMutants(
        _audit_of_judges(cases, verdicts),
        sample.all_undecided,
        answered,
        verdicts.refusal or sample.limit_text,
        sample.left_out(audit.agent_names),
    )
    _count(audit, cases, verdicts)
    return [
        _with_verdicts(case, number, verdicts, sample.places(number)) for number, case in enumerate(cases)
    ]


async def _ask(cases: Sequence[AuditedCase], sample: _Sample, seconds: float | None) -> _Verdicts:
    """Ask first about the recorded conversations, then about the mutants of the cases that passed theirs."""
    asking, verdicts = _ConversationScorer(seconds), _Verdicts()
    recorded = [number for number in sample.cases if not cases[number].audit.problem]
    scored = await asking.all((cases[each], None) for each in recorded)
    verdicts.recorded = dict(zip(recorded, scored, strict=True))
    keys = [key for key in sample.undecided if verdicts.is_sound(key[0])]
    scored = await asking.all((cases[number], sample.survivor(number, place)) for number, place in keys)
    verdicts.mutants = dict(zip(keys, scored, strict=True))
    return verdicts


@dataclass(slots=True)
class _Verdicts:
    """The verdicts of all metrics."""

    recorded: Mapping[int, Scored] = field(default_factory=dict)
    """On the recorded conversations, by the number of the case."""
    mutants: Mapping[tuple[int, int], Scored] = field(default_factory=dict)
    """On mutants, by the number of the case and the number in it."""

    def is_sound(self, number: int) -> bool:
        """Whether a case passes its own conversation, as far as this was asked."""
        return number not in self.recorded or self.recorded[number].outcome is Outcome.PASSED

    def is_refused(self, number: int, place: int) -> bool:
        """Whether the budget did not allow to judge a mutant, or its case."""
        verdicts = [self.recorded.get(number), self.mutants.get((number, place))]
        return not all(map(_is_answered, filter(None, verdicts)))

    @property
    def refusal(self) -> str:
        """Why the budget refused calls; empty if it refused none."""
        reasons = (scored.reason for scored in [*self.recorded.values(), *self.mutants.values()])
        return next((text.partition(_NOT_ASKED)[2] for text in reasons if _NOT_ASKED in text), "")


def _is_answered(scored: Scored) -> bool:
    return _NOT_ASKED not in scored.reason


def judge_metrics(case: AuditedCase) -> list[BoundMetric]:
    """Return the metrics of a case that ask a judge and decide."""
    return [metric for metric in case.metrics if metric.judge and metric.gate]


class _Sample:
    """The mutants that are counted: a random order of all, as far as the limit of calls covers it."""

    def __init__(self, cases: Sequence[AuditedCase], seed: int, limit: int) -> None:
        self._cases, self._limit = cases, limit
        order = [
            (number, place) for number, case in enumerate(cases) for place in range(len(case.audit.mutants))
        ]
        Random(seed).shuffle(order)  # noqa: S311 - it only samples
        self._order = order
        self.all_undecided = sum(self._calls(*key) > 0 for key in order)
        self.cases: list[int] = []
        """The cases whose recorded conversation is judged."""
        self.undecided: list[tuple[int, int]] = []
        self.calls = self.needed = 0
        self._places: dict[int, set[int]] = {}
        self._add_within_limit(order)
        self.needed = sum(self._calls(*key) for key in order) + sum(
            map(self._calls_of, {number for number, place in order if self._calls(number, place)})
        )

    def _add_within_limit(self, order: Order) -> None:
        for number, place in order:
            calls = self._calls(number, place)
            more = calls + (self._calls_of(number) if calls and number not in self.cases else 0)
            if self.calls + more > self._limit:
                return
            self.calls += more
            self._places.setdefault(number, set()).add(place)
            if calls:
                self.undecided.append((number, place))
            if calls and number not in self.cases:
                self.cases.append(number)

    def _calls(self, number: int, place: int) -> int:
        """Return the most calls that a mutant takes; none if another metric has decided it."""
        survived = self._cases[number].audit.mutants[place].fate is Fate.SURVIVED
        return self._calls_of(number) if survived else 0

    def _calls_of(self, number: int) -> int:
        case = self._cases[number]
        return len(case.recording.conversation) * sum(votes_of(each.metric) for each in judge_metrics(case))

    def truncate_before(self, is_refused: Callable[[int, int], bool]) -> None:
        """End the sample before the first mutant that the budget did not allow to judge: those that need no call would be too many.

        A sample in which no judge decides anything, although judges decide some of the mutants, is none.
        """
        keys = [key for key in self._order if key[1] in self.places(key[0])]
        end = next((at for at, key in enumerate(keys) if is_refused(*key)), len(keys))
        judged = any(self._calls(*key) for key in keys[:end])
        self._places = {}
        for number, place in keys[:end] if judged or not self.all_undecided else ():
            self._places.setdefault(number, set()).add(place)

    def left_out(self, operators: Collection[str]) -> int:
        """Return how many undecided mutants of some operators are not counted."""
        return sum(
            self._calls(*key) > 0 and key[1] not in self.places(key[0])
            for key in self._order
            if self._cases[key[0]].audit.mutants[key[1]].operator in operators
        )

    def places(self, number: int) -> set[int]:
        """Return the mutants of a case that are counted."""
        return self._places.get(number, set())

    def survivor(self, number: int, place: int) -> Survivor:
        """Return a mutant that no other metric catches."""
        return self._cases[number].survivors[_survivor_places(self._cases[number].audit.mutants).index(place)]

    def estimate(self) -> str:
        """Return the number of calls in a sentence."""
        all_ = f"{self.all_undecided:,} mutants that no other metric catches need up to {self.needed:,} calls"
        if not self.limit_text:
            return f"judges: {all_}"
        return (
            f"judges: {all_}; up to {self.calls:,} calls for a sample of {len(self.undecided):,} "
            f"({self.limit_text})"
        )

    @property
    def limit_text(self) -> str:
        """The limit that does not cover all mutants; empty if it does."""
        return f"--max-judge-calls {self._limit}" if self.calls < self.needed else ""


def _survivor_places(mutants: Sequence[MutantFate]) -> list[int]:
    return [place for place, each in enumerate(mutants) if each.fate is Fate.SURVIVED]


class _ConversationScorer:
    """Scores conversations with all metrics, several at a time."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds, self._slots = seconds, asyncio.Semaphore(_AT_ONCE)

    async def all(self, pairs: Iterable[tuple[AuditedCase, Survivor | None]]) -> list[Scored]:
        """Return the verdicts on mutants, and on the recorded conversation where there is none."""
        return await asyncio.gather(*(self._score_conversation(case, survivor) for case, survivor in pairs))

    async def _score_conversation(self, case: AuditedCase, survivor: Survivor | None) -> Scored:
        scorer = CaseScorer(case.plan, case.recording, self._seconds, judges=True)
        scored = case.recording if survivor is None else survivor.mutant
        async with self._slots:
            return await scorer.score(scored.turns, scored.state)


def _with_verdicts(case: AuditedCase, number: int, verdicts: _Verdicts, places: set[int]) -> AuditedCase:
    """Fill in the verdicts on the mutants of a case; return it with those that survive."""
    audit, fates = case.audit, case.audit.mutants
    open_places = [place for place in sorted(places) if not verdicts.is_refused(number, place)]
    if open_places and not verdicts.is_sound(number):
        audit.problem, audit.contradicts = contradiction(verdicts.recorded[number]), True
        open_places = []
    survivors = dict(zip(_survivor_places(fates), case.survivors, strict=True))
    now: dict[int, Survivor] = {}
    audit.mutants = []
    for place in open_places:
        fate, survivor = fates[place], survivors.get(place)
        if survivor is not None:
            scored = verdicts.mutants.get((number, place), survivor.scored)
            now[place] = Survivor(survivor.mutant, scored)
            fate = fate_of(survivor.mutant, scored)
        audit.mutants.append(fate)
    survived = [open_places[place] for place in _survivor_places(audit.mutants)]
    return replace(case, survivors=[now[place] for place in survived])


def _count(audit: AuditResult, cases: Sequence[AuditedCase], verdicts: _Verdicts) -> None:
    """Count what each judge decided among the gating metrics."""
    tallies = {
        id(case): {each.name: each for each in one.metrics} for one in audit.sets for case in one.cases
    }
    for case, operator, scored in _by_operator(cases, verdicts):
        tally = tallies[id(case.audit)]
        if operator and operator not in audit.agent_names:
            for name in {metric.name for metric in judge_metrics(case)} & scored.scores.keys():
                tally[name].scored += 1
                tally[name].failed += name in scored.failed


# --- What the judges noticed ------------------------------------------------------------------------------------------


def _audit_of_judges(cases: Sequence[AuditedCase], verdicts: _Verdicts) -> list[JudgeAudit]:
    """Count the verdicts of each judge on recorded conversations, which are right, and on mutants, which are not."""
    judges: dict[tuple[str, str], JudgeAudit] = {}
    for case, operator, scored in _by_operator(cases, verdicts):
        for metric in judge_metrics(case):
            one = judges.setdefault((metric.name, metric.judge), JudgeAudit(metric.name, metric.judge))
            if metric.name in scored.scores:
                one.count(operator, passes=metric.name not in scored.failed)
            else:
                one.without_verdict += 1
    for one in judges.values():
        _leave_out_unread(one)
    return [*judges.values()]


def _leave_out_unread(one: JudgeAudit) -> None:
    """Leave out the faults of calls, or of the state, if it noticed none of them: most judges read only the answers."""
    for family in _OFTEN_UNREAD:
        names = [name for name in one.classes if name in _OPERATORS_OF[family]]
        if not sum(one.classes[name][0] for name in names):
            one.unread |= {name: one.classes.pop(name)[1] for name in names}


def _by_operator(
    cases: Sequence[AuditedCase], verdicts: _Verdicts
) -> Iterator[tuple[AuditedCase, str, Scored]]:
    """Yield each conversation that was judged: its case, the operator (empty: as recorded) and the verdict."""
    for number, scored in verdicts.recorded.items():
        yield cases[number], "", scored
    for (number, place), scored in verdicts.mutants.items():
        yield cases[number], cases[number].audit.mutants[place].operator, scored


# --- As text and as plain data ----------------------------------------------------------------------------------------


def judge_blocks(audit: AuditResult, *, everything: bool) -> Iterator[Block]:
    """Yield what each judge noticed, and of what it was asked; `everything`: each class of faults in its own row."""
    judged = audit.judged
    if judged is None:
        return
    for one in judged.judges:
        yield text_line(_rates(one))
        if one.passes_everything:
            text = f"  it passes everything: it noticed none of {one.confusion.judge_passes:,} mutants"
            yield Line([TextSpan(text, "bad")], record=(text,))
            continue
        if one.classes:
            yield _class_table(audit, one, everything=everything)
        yield from (text_line(f"  {text}") for text in judge_notes(audit, one))
    yield text_line(judged_text(judged))
    yield Gap(is_everywhere=True)


def judge_notes(audit: AuditResult, one: JudgeAudit) -> Iterator[str]:
    """Yield what the rates of a judge mean for a run, and what they leave out."""
    if one.confusion.both_fail and one.right:
        yield f"if it passes 90 of 100 conversations, {_corrected(one)} are right"
    if one.unread:
        names = ", ".join(f"{audit.operators[name][0]} {count:,}" for name, count in one.unread.items())
        yield f"not counted, it noticed none and may not read them: {names}"
    if one.without_verdict:
        yield f"without a verdict: {one.without_verdict:,}"


def judged_text(judged: JudgedMutants) -> str:
    """Return how many mutants were judged, at what cost, and which limit left the others out."""
    of = f"{judged.asked:,} of {count_text(judged.undecided, 'mutant')} that no other metric catches"
    limit = f"; the others are not counted ({judged.limit})" if judged.limit else ""
    return f"judges were asked about {of}{limit}; cost: {judged.usage}"


_CLASSES = (
    Column("mutants that the judge decided", is_name=True),
    Column("noticed", right=True),
    Column("true negative rate", right=True),
    Column("95 % CI", right=True),
)


def _class_table(audit: AuditResult, one: JudgeAudit, *, everything: bool) -> Table:
    """Return the classes of which it notices fewer than 95 %, the worst first, and the sum of the others."""
    classes = sorted(one.classes.items(), key=lambda each: each[1][0] / each[1][1])
    first_classes = [each for each in classes if everything or each[1][0] < ENOUGH * each[1][1]]
    rows = [_class_row(audit.operators[name][0], *counts) for name, counts in first_classes]
    if rest := [counts for name, counts in classes[len(first_classes) :]]:
        label = f"{'other classes' if first_classes else 'all classes'}: {len(rest)}"
        rows.append(_class_row(label, sum(each[0] for each in rest), sum(each[1] for each in rest)))
    return Table(_CLASSES, rows, indent=2)


def _class_row(label: str, noticed: int, judged: int) -> Row:
    rate = true_fail_rate(Confusion(judge_passes=judged - noticed, both_fail=noticed))
    role: Role = "warning" if noticed < ENOUGH * judged else "good"
    share = TextSpan(f"{percent(noticed / judged)} %", role)
    return Row(
        [
            [TextSpan(label)],
            [TextSpan(f"{noticed:,}/{judged:,}")],
            [share],
            [TextSpan(f"{bounds(rate.low, rate.high, UNICODE)} %")],
        ]
    )


def _rates(one: JudgeAudit) -> str:
    confusion = one.confusion
    noticed, wrong = confusion.both_fail, confusion.both_fail + confusion.judge_passes
    rates = [
        f"{word} {one_of:,} of {of:,} {what} ({name} {_percent(rate(confusion))})"
        for word, one_of, of, what, name, rate in (
            (
                "passes",
                one.right_passed,
                one.right,
                "recorded conversations",
                "true positive rate",
                true_pass_rate,
            ),
            ("fails", noticed, wrong, "mutants", "true negative rate", true_fail_rate),
        )
    ]
    return f"`{one.metric}` ({one.model}) {', '.join(rates)}"


def _percent(rate: Estimate) -> str:
    if rate.value is None:
        return "unknown"
    return f"{percent(rate.value)} %, 95 % CI {bounds(rate.low, rate.high, UNICODE)} %"


def _corrected(one: JudgeAudit) -> str:
    rate = corrected_rate(90, 100, one.confusion).corrected
    low, high = round(100 * rate.low), round(100 * rate.high)
    return (
        f"{low} to {high}" if rate.value is None else f"{round(100 * rate.value)} (95 % CI {low} to {high})"
    )


def judged_data(judged: JudgedMutants | None) -> dict[str, Any] | None:
    """Return it as plain data, with the rates of each judge; `None` if none was asked."""
    return None if judged is None else {**asdict(judged), "judges": [*map(_judge_data, judged.judges)]}


def _judge_data(one: JudgeAudit) -> dict[str, Any]:
    classes = [
        {
            "operator": name,
            "noticed": noticed,
            "judged": judged,
            "tnr": _rate_data(Confusion(judge_passes=judged - noticed, both_fail=noticed), true_fail_rate),
        }
        for name, (noticed, judged) in one.classes.items()
    ]
    rates = {
        "tpr": _rate_data(one.confusion, true_pass_rate),
        "tnr": _rate_data(one.confusion, true_fail_rate),
    }
    return {**asdict(one), "classes": classes, **rates, "passes_everything": one.passes_everything}


def _rate_data(confusion: Confusion, rate: Callable[[Confusion], Estimate]) -> dict[str, Any]:
    return asdict(rate(confusion))
