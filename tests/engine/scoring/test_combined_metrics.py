"""Metrics that need the scores of others: asked after them, and refused where one is missing."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from proctor.engine.planning.criteria import order_of


def ordered(combines: dict[str, Sequence[str]], skipped: dict[str, str] | None = None) -> list[str]:
    order = order_of(combines, skipped=skipped or {})
    assert order.problems == []
    return order.names


@pytest.mark.parametrize(
    ("combines", "names"),
    [
        ({}, []),
        ({"a": (), "b": ()}, ["a", "b"]),
        ({"w": ("b",), "a": (), "b": ()}, ["a", "b", "w"]),
        ({"a": (), "w": ("a",), "b": ()}, ["a", "w", "b"]),
        ({"u": ("w",), "w": ("a",), "a": ()}, ["a", "w", "u"]),
        ({"w": ("a", "a"), "a": ()}, ["a", "w"]),
    ],
)
def test_each_comes_after_those_that_it_combines_and_others_stay(
    combines: dict[str, Sequence[str]], names: list[str]
) -> None:
    assert ordered(combines) == names


@pytest.mark.parametrize(
    ("combines", "skipped", "message"),
    [
        (
            {"w": ("rogue_1",), "rouge_1": ()},
            {},
            "'w' combines 'rogue_1', which the criteria do not have. Did you mean 'rouge_1'? They have: rouge_1.",
        ),
        ({"w": ("a",)}, {}, "They have: no others."),
        (
            {"w": ("a",)},
            {"a": "--metrics"},
            "'w' combines 'a', which --metrics leaves out. Name it there, too.",
        ),
        ({"w": ("w",)}, {}, "in a circle: 'w' → 'w'."),
        ({"a": (), "u": ("w", "a"), "w": ("x",), "x": ("u",)}, {}, "in a circle: 'u' → 'w' → 'x' → 'u'."),
    ],
)
def test_what_cannot_be(combines: dict[str, Sequence[str]], skipped: dict[str, str], message: str) -> None:
    (problem,) = order_of(combines, skipped=skipped).problems
    assert message in str(problem)


def test_deselected_metric_deselects_the_metrics_that_combine_it() -> None:
    order = order_of({"a": (), "w": ("a", "judge"), "u": ("w",)}, skipped={"judge": "--no-judge"})
    assert (order.names, order.skipped, order.problems) == (["a"], {"w": "--no-judge", "u": "--no-judge"}, [])


def test_metric_that_cannot_be_built_is_reported_once() -> None:
    assert order_of({"w": ("broken",)}, skipped={}, broken=["broken"]).problems == []


NAMES = "abcdef"


@given(st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=6, max_size=6), st.permutations(NAMES))
def test_any_config_without_circle_is_put_in_order(needed: list[list[int]], config: list[str]) -> None:
    """Each name may need names before it in the alphabet only: any order of a config is free of circles."""
    needs = {NAMES[i]: [NAMES[j] for j in those if j < i] for i, those in enumerate(needed)}
    names = ordered({name: needs[name] for name in config})
    assert sorted(names) == [*NAMES]
    assert all(names.index(part) < names.index(name) for name in names for part in needs[name])
    if not any(needs.values()):
        assert names == config
