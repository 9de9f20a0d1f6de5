"""Classes that are quick to make behave as those of `dataclasses` do."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from proctor.common import quick_dataclasses

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slots": {"slots": True},
    "frozen": {"frozen": True, "slots": True},
    "frozen, without slots": {"frozen": True},
    "by name": {"slots": True, "kw_only": True},
    "not compared": {"slots": True, "eq": False},
    "without repr": {"slots": True, "repr": False},
}


def made_with(make: Callable[..., Any], options: dict[str, Any]) -> Any:
    class Thing:
        """Doc."""

        name: str
        items: list[int] = dataclasses.field(default_factory=list)
        secret: str = dataclasses.field(default="s", repr=False)
        cached: float = dataclasses.field(default=0.0, compare=False)

    return make(**options)(Thing)


def told(cls: Any) -> dict[str, Any]:
    one, same, other = cls(name="a"), cls(name="a", cached=7), cls(name="b", secret="t", items=())
    hashable = cls(name="a", items=())
    return {
        "fields": [field.name for field in dataclasses.fields(cls)],
        "equal": [
            one == same,
            one == other,
            one == "a",
            one != same,
            one == cls("a") if one != same else True,
        ],
        "repr": [repr(each).partition(" object at")[0] for each in (one, other)],
        "hash": cls.__hash__ is None or hash(hashable) == hash(cls(name="a", items=(), cached=1)),
        "replaced": dataclasses.replace(one, name="c").name,
        "asdict": dataclasses.asdict(one),
        "copies": copy.deepcopy(one) == one,
        "match": cls.__match_args__,
    }


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_they_are_alike(options: dict[str, Any]) -> None:
    quick, usual = (made_with(make, options) for make in (quick_dataclasses.dataclass, dataclasses.dataclass))
    assert told(quick) == told(usual)


def test_what_a_class_says_itself_stays() -> None:
    @quick_dataclasses.dataclass(slots=True)
    class Own:
        number: float

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Own(1)), Own(1) == 2, hash(Own(1))) == ("own", True, 7)


@quick_dataclasses.dataclass
class Node:
    number: float
    next: "Node | None" = None


def test_what_holds_itself_has_an_end() -> None:
    node = Node(1)
    node.next = node
    assert repr(node) == "Node(number=1, next=...)"


def test_the_very_same_value_is_equal_to_itself() -> None:
    nan = float("nan")
    assert Node(nan) == Node(nan)
    assert Node(1) != Node(2)
    assert pickle.loads(pickle.dumps(Node(1))) == Node(1)


def test_what_is_frozen_stays_so() -> None:
    @quick_dataclasses.dataclass(frozen=True, slots=True)
    class Fixed:
        number: int

    with pytest.raises(dataclasses.FrozenInstanceError):
        Fixed(1).number = 2  # type: ignore[misc]  # that is the point
    assert {Fixed(1), Fixed(1)} == {Fixed(1)}
