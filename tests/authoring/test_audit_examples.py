"""The eval sets of the project's examples catch at least nine of ten mutants, and no agent passes them that does nothing."""

from pathlib import Path

import pytest

import proctor
from examples.retail.customer import customer
from proctor.authoring.audit.mutant import SCENARIO
from proctor.schema.analysis.audit_result import AuditResult

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = [
    "adk_weather/weather.evalset.json",
    "city_guide/guide.evalset.yaml",
    "custom_metric/units.evalset.json",
    "dice/dice.evalset.json",
    "home_automation/evening.evalset.yaml",
    "home_automation/home.evalset.json",
    "home_automation/lights.test.json",
    "travel/bookings.evalset.json",
]
SCENARIOS = "retail/desk.evalset.yaml"


@pytest.mark.parametrize("name", RECORDED)
def test_an_example_catches_nine_of_ten_mutants(name: str) -> None:
    assert_catches_nine_of_ten(proctor.audit_sync(EXAMPLES / name, proposals=False))


@pytest.mark.slow  # a run, and 371 mutants
def test_the_scenarios_catch_nine_of_ten_mutants_of_a_run(tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite3")
    run = proctor.evaluate_sync(
        str(EXAMPLES / "retail"), EXAMPLES / SCENARIOS, user=customer, store=store, concurrency=10
    )
    assert_catches_nine_of_ten(
        proctor.audit_sync(EXAMPLES / SCENARIOS, from_run=run, store=store, proposals=False)
    )


def assert_catches_nine_of_ten(audit: AuditResult) -> None:
    assert audit.score.share is not None
    assert audit.score.share >= 0.9
    assert audit.score.errors == 0
    assert not audit.passed_by_any
    assert not audit.contradictions
    assert len(audit.audited) == len([*audit.cases])


def test_scenarios_without_a_run_are_only_tried_with_agents_that_do_nothing() -> None:
    audit = proctor.audit_sync(EXAMPLES / SCENARIOS, proposals=False)
    assert not audit.audited
    assert not audit.passed_by_any
    assert {case.problem for case in audit.cases} == {SCENARIO}


def test_every_set_of_an_example_is_audited_here() -> None:
    sets = {
        str(path.relative_to(EXAMPLES))
        for path in EXAMPLES.glob("*/*")
        if {".evalset", ".test"} & {*path.suffixes}
    }
    assert sets == {*RECORDED, SCENARIOS}
