"""How alike two texts are: the same every time, symmetric, from 0 to 1; other words for one thing are near, others not."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from proctor.simulation.generate_scenarios import NEAR, likeness

texts = st.text(alphabet="abc ,.!\n", max_size=40)


@given(texts, texts)
def test_it_is_symmetric_and_within_its_range(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, one) == 1


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        pytest.param("Book a flight to Rome.", "book a flight, to ROME", True, id="signs and case"),
        pytest.param(
            "I would like to book a flight to Rome on Monday",
            "I would like to book a flight to Oslo on Monday",
            True,
            id="one word of ten",
        ),
        pytest.param(
            "Book a flight to Rome for two on Monday",
            "Book a flight to Paris for three on Friday",
            False,
            id="another journey",
        ),
        pytest.param("Cancel order 17", "Where is my parcel?", False, id="something else"),
        pytest.param("a b c d e f", "f e d c b a", False, id="the same words, another order"),
    ],
)
def test_near_and_far(one: str, other: str, near: bool) -> None:
    assert (likeness(one, other) >= NEAR) is near
