"""The eval sets of the project's examples catch at least nine of ten mutants, and no agent passes them that does nothing."""

from pathlib import Path

import pytest

import proctor
from proctor.authoring.audit.audit_sets import SCENARIO

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = [
    "adk_weather/weather.evalset.json",
    "custom_metric/units.evalset.json",
    "dice/dice.evalset.json",
    "home_automation/evening.evalset.yaml",
    "home_automation/home.evalset.json",
    "home_automation/lights.test.json",
    "travel/bookings.evalset.json",
]
UNRECORDED = {
    "city_guide/guide.evalset.yaml": "asserts something only for rubric_based_final_response_quality_v1",
    "retail/desk.evalset.yaml": SCENARIO,
}


@pytest.mark.parametrize("name", RECORDED)
def test_an_example_catches_nine_of_ten_mutants(name: str) -> None:
    found = proctor.audit_sync(EXAMPLES / name, proposals=False)
    assert found.score.share is not None
    assert found.score.share >= 0.9
    assert found.score.errors == 0
    assert not found.passed_by_any
    assert not found.contradictions
    assert len(found.audited) == len([*found.cases])


@pytest.mark.parametrize(("name", "reason"), UNRECORDED.items(), ids=[*UNRECORDED])
def test_an_example_without_recorded_answers_states_why_it_is_not_measured(name: str, reason: str) -> None:
    found = proctor.audit_sync(EXAMPLES / name, proposals=False)
    assert not found.audited
    assert not found.passed_by_any
    assert all(case.problem.startswith(reason) for case in found.cases)


def test_every_set_of_an_example_is_audited_here() -> None:
    sets = {
        str(path.relative_to(EXAMPLES))
        for path in EXAMPLES.glob("*/*")
        if {".evalset", ".test"} & {*path.suffixes}
    }
    assert sets == {*RECORDED, *UNRECORDED}
