"""The relations of agentevals between actual and expected calls: unordered, subset, superset (and strict).

Pairs are found by the best assignment. agentevals takes the first call that fits, which can miss a match if arguments
are compared loosely; a warning names such scores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from proctor.errors import CriterionError
from proctor.metrics.base import CaseView, Survey, limits_of_calls
from proctor.metrics.text.one_to_one import most_pairs
from proctor.metrics.trajectory.alignment import Alignment, StepKind, alignment_text
from proctor.metrics.trajectory.base import (
    ARGUMENTS,
    Calls,
    CallsCriterion,
    TrajectoryMetric,
    call_facts,
    open_to_any,
)
from proctor.metrics.trajectory.call_matching import (
    EQUALITIES,
    NAMES,
    ArgumentDifference,
    ByValue,
    Call,
    Matching,
    argument_differences,
    found_at_first,
)
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Score

ArgumentMode = Literal["exact", "ignore", "subset", "superset"]
ToolArguments = ArgumentMode | Annotated[list[str], Field(min_length=1)]
"""A mode, or paths (`city`, `address.zip`) of the arguments that are compared."""

LEFT_OUT: Mapping[str, str] = {"subset": "missing", "superset": "extra"}


@dataclass(frozen=True, slots=True)
class ByMode(Matching):
    """Calls of one tool are the same if their arguments are equal as far as the tool's mode requires.

    `exact`: all; `ignore`: none; `subset`: the given arguments are expected, with equal values; `superset`: the expected
    arguments are given, with equal values. Only top-level arguments are compared one by one. The value of an absent path
    is null.
    """

    values: ByValue
    mode: ArgumentMode = "exact"
    tools: Mapping[str, ToolArguments] = field(default_factory=dict)
    """The modes or paths of single tools."""

    @property
    def is_equivalence(self) -> bool:
        """False if one side may have more arguments than the other."""
        return not any(
            mode in LEFT_OUT for mode in (self.mode, *self.tools.values()) if isinstance(mode, str)
        )

    def survey(self) -> Survey | None:
        """Return the survey for the named tools and paths."""
        from proctor.metrics.matchers.tool_arguments import ComparedSurvey

        return ComparedSurvey(self.tools) if self.tools else None

    def warning(self, case: CaseView) -> str:
        """Return a warning for paths that no call has, expected or made: null is compared with null there."""
        paths_of = {tool: paths for tool, paths in self.tools.items() if not isinstance(paths, str)}
        if not paths_of:
            return ""
        known = _known_paths(case)
        unknown = [
            f"{tool}.{path}"
            for tool, paths in paths_of.items()
            if tool in known
            for path in paths
            if path not in known[tool]
        ]
        return (
            f"`tool_args` names what no call has, expected or made: {', '.join(unknown)}" if unknown else ""
        )

    def differences(self, expected: Call, actual: Call) -> list[ArgumentDifference]:
        """Return the compared arguments that differ."""
        mode = self.tools.get(actual.name or "", self.mode)
        if mode == "ignore":
            return []
        if mode == "exact":
            return self.values.differences(expected, actual)
        if isinstance(mode, str):
            differences = argument_differences(expected.args or {}, actual.args or {}, self.values.equal)
            return [each for each in differences if each.kind != LEFT_OUT[mode]]
        return self._differences_at(mode, expected, actual)

    def _differences_at(self, paths: Sequence[str], expected: Call, actual: Call) -> list[ArgumentDifference]:
        values = ((path, _at(expected.args, path), _at(actual.args, path)) for path in paths)
        return [
            ArgumentDifference(path, "differs", expected_value, actual_value)
            for path, expected_value, actual_value in values
            if not self.values.equal(expected_value, actual_value)
        ]


def _known_paths(case: CaseView) -> dict[str, set[str]]:
    """Return the paths of the arguments of each tool, in the expected and the actual calls."""
    from proctor.metrics.matchers.tool_arguments import paths_in

    known: defaultdict[str, set[str]] = defaultdict(set)
    for turn in (*(case.expected or ()), *case.turns):
        for call in turn.tool_calls:
            known[call.name or ""].update(paths_in(call.args or {}))
    return known


def _at(value: object, path: str) -> object:
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


RELATION_OPTIONS: Mapping[str, str] = {
    "args": "exact (the default), ignore, subset (of the expected arguments) or superset (all of them, and others)",
    "tool_args": "for single tools: an object from tool name to a mode of `args`, or to a list of paths to compare",
    **ARGUMENTS,
}
GREEDY = "agentevals, which pairs each call with the first that fits, would find no match here"


class RelationCriterion(CallsCriterion):
    """How arguments are compared."""

    args: ArgumentMode = "exact"
    tool_args: dict[str, ToolArguments] = Field(default_factory=dict)


R = TypeVar("R", bound=RelationCriterion)


class RelationMetric(TrajectoryMetric[R]):
    """1 or 0, with arguments compared by mode."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        options = self.criterion
        if options.arguments is not None:
            if options.args != "exact" or options.tool_args:
                raise CriterionError(
                    f"The criterion of {self.facts.name!r} does not fit: `arguments` determines how each argument is compared; "
                    "leave `args` and `tool_args` out."
                )
            return
        values = EQUALITIES[options.equality]
        mode: ArgumentMode = "ignore" if options.ignore_args else options.args
        self.matching: Matching = ByMode(values, mode, options.tool_args)
        if mode == "ignore" and not options.tool_args:
            self.matching = NAMES

    def all_paired(self, expected: Calls, actual: Calls, *, size: int) -> Score:
        """Return 1 if `size` calls have different partners under the best assignment."""
        same = self.matching.same
        if found_at_first(expected, actual, same) == size:
            return Score(1.0)
        if self.matching.is_equivalence:
            return Score(0.0)
        pairs = most_pairs(len(expected), len(actual), lambda i, j: same(expected[i], actual[j]))
        return Score(1.0, warning=GREEDY) if len(pairs) == size else Score(0.0)


class Superset(RelationMetric[RelationCriterion]):
    """1 if every expected call was made, as often as expected; others may have been made, in any order."""

    facts = call_facts(
        "trajectory_superset_match",
        "Whether the tool calls of a turn include the expected ones, in any order.",
        "agentevals' trajectory match mode superset",
        options=RELATION_OPTIONS,
    )
    kind = RelationCriterion
    allowed = (StepKind.EXTRA,)

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return 1 if all expected calls have partners."""
        return open_to_any(self.all_paired(expected, actual, size=len(expected)), expected, actual)

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Return what is missing."""
        return alignment_text(alignment, extra_allowed=True, order_matters=False)


class Subset(RelationMetric[RelationCriterion]):
    """1 if no call was made beyond the expected calls, as often as expected at most; some may be missing."""

    facts = call_facts(
        "trajectory_subset_match",
        "Whether the tool calls of a turn are all among the expected ones, in any order.",
        "agentevals' trajectory match mode subset",
        options=RELATION_OPTIONS,
        statement=limits_of_calls,
    )
    kind = RelationCriterion
    allowed = (StepKind.MISSING,)

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return 1 if all calls made have partners."""
        score = self.all_paired(expected, actual, size=len(actual))
        if expected and not actual:
            score.warning = "no call was made, which this metric always accepts"
        return score

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Return the calls that were not expected."""
        return alignment_text(alignment, missing_allowed=True, order_matters=False)

    def explain_full_score(self, expected: Calls) -> str:
        """Return the reason for 1, which does not cover missing calls."""
        return "every call made was expected" if expected else super().explain_full_score(expected)


class Unordered(RelationMetric[RelationCriterion]):
    """1 if the expected calls were made, as often as expected, and no others, in any order."""

    facts = call_facts(
        "trajectory_unordered_match",
        "Whether the tool calls of a turn are the expected ones and no others, in any order.",
        "agentevals' trajectory match mode unordered",
        options=RELATION_OPTIONS,
    )
    kind = RelationCriterion

    def compare(self, expected: Calls, actual: Calls) -> Score:
        """Return 1 if all have partners."""
        return self.all_paired(expected, actual, size=max(len(expected), len(actual)))

    def explain_difference(self, expected: Calls, actual: Calls, alignment: Alignment) -> str:
        """Return what is missing and what was not expected."""
        return alignment_text(alignment, order_matters=False)
