"""Planted faults of simulated users, found by rules: how many of each kind, and no false alarm for correct users.

The conversations are in `planted/`: separate texts for each fault, no template. The rules were adjusted on those of
`tuned.yaml`, later on those of `second_look.yaml`; none was for one of `held_out.yaml`, but for two about how values are written.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.simulation.detection_rates import KINDS, Figures, degraded, figures
from tests.simulation.planted_conversations import HELD_OUT, SECOND_LOOK, TUNED, conversations

pytestmark = pytest.mark.slow

FOUND: Mapping[str, Mapping[str, tuple[int, int]]] = {
    TUNED: {
        "left_plan": (21, 1),
        "leaked_answer": (24, 0),
        "stopped_early": (22, 0),
        "invented_fact": (24, 0),
        "repeated_itself": (22, 0),
        "ignored_question": (15, 0),
        "no_message": (24, 0),
    },
    HELD_OUT: {
        "left_plan": (8, 1),
        "leaked_answer": (12, 0),
        "stopped_early": (10, 0),
        "invented_fact": (12, 0),
        "repeated_itself": (9, 0),
        "ignored_question": (8, 1),
        "no_message": (12, 0),
    },
    SECOND_LOOK: {
        "left_plan": (10, 0),
        "leaked_answer": (10, 0),
        "stopped_early": (9, 0),
        "invented_fact": (10, 0),
        "repeated_itself": (10, 0),
        "ignored_question": (8, 0),
        "no_message": (10, 0),
    },
}
"""Of each kind: in how many conversations it was found that have it, and in how many that have another fault instead."""
CLEAN = {TUNED: 276, HELD_OUT: 142, SECOND_LOOK: 156}


@pytest.fixture(
    scope="module",
    params=[HELD_OUT, *(pytest.param(name, marks=pytest.mark.nightly) for name in (TUNED, SECOND_LOOK))],
)
def found(request: pytest.FixtureRequest) -> tuple[str, Figures]:
    return request.param, figures(conversations(request.param))


def test_each_kind_is_planted_often_enough_with_separate_wordings() -> None:
    planted = [one for one in conversations() if one.kind]
    for kind in KINDS:
        assert sum(one.kind == kind for one in planted) >= 20
    talks = [str(one.user) for one in planted if one.kind not in ("no_message", "stopped_early")]
    assert len(set(talks)) == len(talks)
    assert sum(not one.kind for one in conversations()) >= len(planted)


@pytest.mark.nightly(check=1)
def test_users_that_follow_the_plan_have_no_fault(found: tuple[str, Figures]) -> None:
    source, all_found = found
    assert all_found.clean == CLEAN[source]
    assert all_found.accused == []


@pytest.mark.parametrize("kind", KINDS)
def test_planted_faults_are_found(found: tuple[str, Figures], kind: str) -> None:
    source, all_found = found
    one = all_found.kinds[kind]
    assert (one.right, len(one.wrong)) == FOUND[source][kind], (one.missed, one.wrong)
    assert one.precision >= 0.85
    assert one.recall >= 0.6


@pytest.mark.nightly
def test_the_agents_figures_stay_when_users_get_worse() -> None:
    rates = {rate: degraded(rate, each=10)[0] for rate in (0.0, 0.2, 0.5)}
    agent = [found.agent for found in rates.values()]
    assert agent[0].interval is not None
    low, high = agent[0].interval
    assert all(one.rate is not None and low <= one.rate <= high for one in agent)
    users = [found.user.rate or 0.0 for found in rates.values()]
    assert users[0] == 0.0
    assert 0.1 < users[1] < 0.3
    assert 0.4 < users[2] < 0.6
