"""Laws of the trajectory metrics: what ties them to the alignment that explains them, and to each other."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.common.registry import METRICS
from proctor.metrics.trajectory.agentevals_relations import GREEDY, Subset, Superset, Unordered
from proctor.metrics.trajectory.alignment import Alignment, StepKind, align
from proctor.metrics.trajectory.base import TrajectoryMetric
from proctor.metrics.trajectory.call_matching import EQUALITIES, NAMES, Matching, found_in_order, in_place
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from tests.metrics.invocations import turn, view

pytestmark = pytest.mark.slow  # random trajectories, compared with every alignment


@dataclass(frozen=True)
class Made:
    name: str | None
    args: dict[str, Any] | None = None


Calls = list[Made]
CALL = st.builds(
    Made,
    st.sampled_from("ffg"),
    st.none()
    | st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 1.0, True, None, [1]]), max_size=2),
)
FEW = st.lists(CALL, max_size=5)
EXACT, IN_ORDER, ANY_ORDER = (
    "trajectory_exact_match",
    "trajectory_in_order_match",
    "trajectory_any_order_match",
)
PRECISION, RECALL, F1 = "trajectory_precision", "trajectory_recall", "trajectory_f1"
SUPERSET, SUBSET, UNORDERED = (
    "trajectory_superset_match",
    "trajectory_subset_match",
    "trajectory_unordered_match",
)
COUNTING = (ANY_ORDER, PRECISION, RECALL, F1)
NAMED = (EXACT, IN_ORDER, *COUNTING, SUPERSET, SUBSET, UNORDERED)
IN_ANY_ORDER = (*COUNTING, SUPERSET, SUBSET, UNORDERED)


def metric(name: str, **options: Any) -> TrajectoryMetric[Any]:
    made: TrajectoryMetric[Any] = METRICS.get(name)(
        BaseCriterion.model_validate({"threshold": 1.0, **options})
    )
    return made


def value(name: str, wanted: Calls, made: Calls, **options: Any) -> float | None:
    return metric(name, **options).compare(wanted, made).value


def share(part: int, whole: int) -> float | None:
    return pytest.approx(part / whole) if whole else None  # type: ignore[return-value]  # it compares as a number


def equal(alignment: Alignment) -> int:
    """Return the calls that have an equal partner, at any position."""
    return alignment.count(StepKind.MATCHED, StepKind.MOVED)


# --- the scores and the alignment ----------------------------------------------------------------------------------------

EQUALITY = st.sampled_from([*EQUALITIES])


@given(FEW, FEW, EQUALITY)
def test_matches_are_what_the_alignment_shows(wanted: Calls, made: Calls, equality: str) -> None:
    alignment = align(wanted, made, EQUALITIES[equality])
    matched, paired = alignment.count(StepKind.MATCHED), equal(alignment)
    found = {name: value(name, wanted, made, equality=equality) for name in NAMED}
    assert found[EXACT] == (not alignment.differing)
    assert found[IN_ORDER] == (matched == len(wanted))
    assert found[ANY_ORDER] == found[SUPERSET] == (paired == len(wanted))
    assert found[SUBSET] == (paired == len(made))
    assert found[UNORDERED] == (paired == len(wanted) == len(made))


@given(FEW, FEW, EQUALITY)
def test_shares_are_what_the_alignment_shows(wanted: Calls, made: Calls, equality: str) -> None:
    alignment = align(wanted, made, EQUALITIES[equality])
    paired = equal(alignment)
    for duplicates, wanted_more, made_more in (
        ("multiset", 0, 0),
        (
            "membership",
            sum(step.wanted_again for step in alignment.steps),
            sum(step.made_again for step in alignment.steps),
        ),
    ):
        options = {"equality": equality, "duplicates": duplicates}
        precision = share(paired + made_more, len(made))
        if wanted and not made:  # what the agent does not do drops no gate
            precision = 0.0
        assert value(PRECISION, wanted, made, **options) == precision
        assert value(RECALL, wanted, made, **options) == share(paired + wanted_more, len(wanted))
        assert value(ANY_ORDER, wanted, made, **options) == (paired + wanted_more == len(wanted))


@given(FEW, FEW, EQUALITY)
def test_partial_credit_in_order_is_what_the_alignment_shows(
    wanted: Calls, made: Calls, equality: str
) -> None:
    matching = EQUALITIES[equality]
    alignment = align(wanted, made, matching)
    assert found_in_order(wanted, made, matching.same) == alignment.count(StepKind.MATCHED)
    assert in_place(wanted, made, matching.same) <= alignment.count(StepKind.MATCHED)


@given(FEW, FEW, st.sampled_from(NAMED), EQUALITY)
def test_less_than_all_is_always_explained_and_all_never_faulted(
    wanted: Calls, made: Calls, name: str, equality: str
) -> None:
    measure = metric(name, equality=equality)
    found = measure.compare(wanted, made).value
    description = measure.explain_difference(wanted, made, align(wanted, made, measure.matching))
    if found is not None:
        assert (description == "") == (found == 1)


# --- what they are, by trying all ----------------------------------------------------------------------------------------


def can_pair(wanted: Calls, made: Calls, matching: Matching, *, size: int) -> bool:
    """Return whether so many calls have separate partners in some assignment."""
    short, long = (wanted, made) if len(wanted) <= len(made) else (made, wanted)
    if size > len(short):
        return False

    def same(one: Made, other: Made) -> bool:
        return matching.same(one, other) if short is wanted else matching.same(other, one)

    return any(sum(map(same, short, way)) >= size for way in permutations(long, len(short)))


@given(
    st.lists(CALL, max_size=4),
    st.lists(CALL, max_size=4),
    st.sampled_from(["exact", "ignore", "subset", "superset"]),
    st.sampled_from([{}, {"f": ["a"]}, {"f": "subset"}, {"g": "ignore", "f": "superset"}]),
)
def test_relations_find_the_best_assignment(
    wanted: Calls, made: Calls, args: str, tools: dict[str, Any]
) -> None:
    sizes: dict[type[TrajectoryMetric[Any]], int] = {
        Superset: len(wanted),
        Subset: len(made),
        Unordered: max(len(wanted), len(made)),
    }
    for kind, size in sizes.items():
        measure = metric(kind.facts.name, args=args, tool_args=tools)
        found = measure.compare(wanted, made)
        assert bool(found.value) == can_pair(wanted, made, measure.matching, size=size)
        alignment = align(wanted, made, measure.matching, order_matters=False)
        assert bool(found.value) == (equal(alignment) == size)
        if found.warning == GREEDY:
            assert found.value == 1
            assert not measure.matching.is_equivalence


def test_loose_match_that_a_greedy_fit_misses_is_reported() -> None:
    wanted = [Made("f", {"a": 1}), Made("f", {"a": 1, "b": 2})]
    made = [Made("f", {"a": 1, "b": 2}), Made("f", {"a": 1})]
    found = metric(UNORDERED, args="superset").compare(wanted, made)
    assert (found.value, found.warning) == (1.0, GREEDY)


# --- among each other ----------------------------------------------------------------------------------------------------


@given(FEW, FEW, EQUALITY)
def test_each_match_implies_the_wider_ones(wanted: Calls, made: Calls, equality: str) -> None:
    found = {name: value(name, wanted, made, equality=equality) for name in NAMED}
    assert found[EXACT] <= found[IN_ORDER] <= found[ANY_ORDER]  # type: ignore[operator]  # matches always apply
    assert found[EXACT] <= found[UNORDERED] <= found[SUBSET]  # type: ignore[operator]  # likewise
    if found[ANY_ORDER] == 1:
        assert found[RECALL] in (1, None)
    if found[SUBSET] == 1 and made:
        assert found[PRECISION] == 1
    if found[EXACT] == 1:
        assert {*found.values()} <= {1, None}


@given(FEW, FEW)
def test_f1_is_the_harmonic_mean(wanted: Calls, made: Calls) -> None:
    precision, recall = value(PRECISION, wanted, made), value(RECALL, wanted, made)
    found = value(F1, wanted, made)
    if precision and recall:
        assert found == pytest.approx(2 / (1 / precision + 1 / recall))
    else:
        assert found == (0 if wanted or made else None)


@given(FEW, FEW, st.sampled_from(NAMED))
def test_scores_stay_between_0_and_1_and_names_alone_score_no_less(
    wanted: Calls, made: Calls, name: str
) -> None:
    found, by_name = value(name, wanted, made), value(name, wanted, made, ignore_args=True)
    assert (found is None) == (by_name is None)
    if found is not None and by_name is not None:
        assert 0 <= found <= by_name <= 1


@given(FEW, FEW, st.sampled_from(COUNTING))
def test_counting_how_often_scores_no_more(wanted: Calls, made: Calls, name: str) -> None:
    counted = value(name, wanted, made, duplicates="multiset")
    member = value(name, wanted, made, duplicates="membership")
    assert (counted is None) == (member is None)
    if counted is not None and member is not None:
        assert counted <= member + 1e-12


@given(FEW, FEW, st.sampled_from(IN_ANY_ORDER), st.randoms(use_true_random=False))
def test_the_order_does_not_matter_where_it_should_not(
    wanted: Calls, made: Calls, name: str, chance: Any
) -> None:
    shuffled = [*made]
    chance.shuffle(shuffled)
    assert value(name, wanted, shuffled) == value(name, wanted, made)


@given(FEW, FEW, CALL, st.integers(0, 5), st.sampled_from([IN_ORDER, ANY_ORDER, RECALL, SUPERSET]))
def test_another_call_never_harms_where_extra_calls_are_allowed(
    wanted: Calls, made: Calls, more: Made, at: int, name: str
) -> None:
    before, after = value(name, wanted, made), value(name, wanted, [*made[:at], more, *made[at:]])
    assert before is after is None or (before is not None and after is not None and before <= after)


@given(FEW, FEW, st.sampled_from([PRECISION, SUBSET]))
def test_an_unexpected_call_always_harms_precision(wanted: Calls, made: Calls, name: str) -> None:
    before, after = value(name, wanted, made), value(name, wanted, [*made, Made("unexpected")])
    assert after is not None
    assert after < before if before else after == 0


MIRRORED: dict[str, str] = {
    EXACT: EXACT,
    UNORDERED: UNORDERED,
    F1: F1,
    PRECISION: RECALL,
    RECALL: PRECISION,
    SUBSET: SUPERSET,
    SUPERSET: SUBSET,
}


@given(FEW, FEW, st.sampled_from([*MIRRORED]), EQUALITY)
def test_exchanged_sides(wanted: Calls, made: Calls, name: str, equality: str) -> None:
    """With `compat`: otherwise precision is 0 where nothing was made, and recall not applicable where nothing is expected."""
    there = value(name, wanted, made, equality=equality, compat="adk")
    back = value(MIRRORED[name], made, wanted, equality=equality, compat="adk")
    assert there == (None if back is None else pytest.approx(back))


# --- the format's own metric ---------------------------------------------------------------------------------------------

MATCH_TYPES = st.sampled_from(["EXACT", "IN_ORDER", "ANY_ORDER"])


@given(FEW, FEW, MATCH_TYPES, st.booleans(), st.sampled_from(["adk", "adk-ts"]))
def test_partial_credit_is_full_exactly_where_all_is_right(
    wanted: Calls, made: Calls, match_type: str, ignore_args: bool, reading: str
) -> None:
    case = view([_turn(made)], [_turn(wanted)])
    full, part = (
        _trajectory(match_type=match_type, ignore_args=ignore_args, reading=reading, credit=credit)
        .score(case)
        .value
        for credit in ("all", "partial")
    )
    assert 0 <= part <= 1
    assert (part == 1) == (full == 1)


@given(
    FEW,
    FEW,
    st.sampled_from([("EXACT", EXACT), ("IN_ORDER", IN_ORDER), ("ANY_ORDER", ANY_ORDER)]),
    st.booleans(),
)
def test_it_is_the_classic_metric_with_arguments_compared_in_python(
    wanted: Calls, made: Calls, names: tuple[str, str], ignore_args: bool
) -> None:
    case = view([_turn(made)], [_turn(wanted)])
    match_type, classic = names
    ours = _trajectory(match_type=match_type, ignore_args=ignore_args).score(case).value
    assert ours == value(classic, wanted, made, ignore_args=ignore_args, equality="python")


def _trajectory(**options: Any) -> Any:
    return METRICS.get("tool_trajectory_avg_score")(
        BaseCriterion.model_validate({"threshold": 1.0, **options})
    )


def _turn(made: Calls) -> Invocation:
    return turn(calls=[(each.name or "", each.args) for each in made])


# --- which calls are the same --------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé1"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab1", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(VALUES, VALUES, EQUALITY)
def test_equality_is_symmetric_and_everything_is_itself(one: Any, other: Any, equality: str) -> None:
    same: Callable[[Any, Any], bool] = EQUALITIES[equality].equal
    assert same(one, one)
    assert same(one, other) == same(other, one)


@given(VALUES, VALUES)
def test_notions_of_equality_widen(one: Any, other: Any) -> None:
    strict, json, python = (EQUALITIES[name].equal(one, other) for name in ("strict", "json", "python"))
    assert json <= python
    if strict and not _has_huge(one):
        assert json


def _has_huge(data: Any) -> bool:
    if isinstance(data, dict):
        return any(map(_has_huge, data.values()))
    if isinstance(data, list):
        return any(map(_has_huge, data))
    return isinstance(data, int) and abs(data) >= 2**63


@pytest.mark.parametrize(
    ("one", "other", "json", "python", "strict", "javascript"),
    [
        (1, 1.0, True, True, False, True),
        (1, True, False, True, False, False),
        (0, False, False, True, False, False),
        (1.0, True, False, True, False, False),
        ("1", 1, False, False, False, False),
        (None, False, False, False, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, True, True, False),
        ({"b": 0, "1": 0}, {"1": 0, "b": 0}, True, True, True, True),
        ({"b": 0, "01": 0}, {"01": 0, "b": 0}, True, True, True, False),
        ([1, 2], [2, 1], False, False, False, False),
        ([1], (1,), True, False, True, True),
        (2**53, 2**53 + 1, False, False, False, True),
        (2**63, 2**63 + 1, False, False, False, True),
        (2**64, 2**64 + 1, False, False, True, True),
        (-(2**63), -(2**63) - 1, False, False, False, True),
        (-(2**64), -(2**64) - 1, False, False, True, True),
        ({"a": 0, "4294967294": 0}, {"4294967294": 0, "a": 0}, True, True, True, True),
        ({"a": 0, "4294967295": 0}, {"4294967295": 0, "a": 0}, True, True, True, False),
        (2**64, float(2**64), True, True, True, True),
        (10**400, -(10**400), False, False, False, True),
        (0.0, -0.0, True, True, True, True),
        ([[{"a": True}]], [[{"a": 1}]], False, True, False, False),
    ],
)
def test_equalities(one: Any, other: Any, json: bool, python: bool, strict: bool, javascript: bool) -> None:
    found = {name: matching.equal(one, other) for name, matching in EQUALITIES.items()}
    assert found == {"json": json, "python": python, "strict": strict, "javascript": javascript}


@pytest.mark.parametrize("name", [*EQUALITIES])
@given(CALL, CALL)
def test_calls_are_the_same_exactly_when_no_argument_differs(name: str, one: Made, other: Made) -> None:
    matching = EQUALITIES[name]
    if one.name == other.name:
        assert matching.same(one, other) == (matching.differences(one, other) == [])
    else:
        assert not matching.same(one, other)
    assert NAMES.same(one, other) == (one.name == other.name)


def test_what_python_takes_for_equal_in_a_dict_is_equal_alone() -> None:
    nan = float("nan")
    assert EQUALITIES["python"].equal(nan, nan) == ({"a": nan} == {"a": nan})


def test_models_of_the_format_are_calls() -> None:
    one = FunctionCall.model_validate({"name": "f", "args": {"a": 1}})
    assert EQUALITIES["json"].same(
        one, FunctionCall.model_validate({"tool_name": "f", "tool_input": {"a": 1.0}})
    )
