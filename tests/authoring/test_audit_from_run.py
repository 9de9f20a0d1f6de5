"""The audit of scenarios, and of the conversations of a stored run: what passed there is mutated."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_report import audit_data, audit_text
from proctor.authoring.audit.stored_audit import load_audit, load_case_audit
from proctor.errors import UnknownNameError
from proctor.schema.analysis.audit_result import AuditResult, Fate
from proctor.schema.format.content import text_of
from proctor.stores.open import open_store_url
from tests.authoring.test_audit import case, turn

Json = dict[str, Any]
CRITERIA = {"tool_expectations": 1.0, "trajectory_rules": 1.0}


def scenario(eval_id: str, **more: Any) -> Json:
    plan = {"starting_prompt": "Please book a table", "conversation_plan": "For 4 people."}
    session = {"app_name": "a", "user_id": "u", "state": {"orders": 0, "_seen": 0}}
    return {"eval_id": eval_id, "conversation_scenario": plan, "session_input": session, **more}


BOOKED = scenario("booked", expectations={"calls": [{"tool": "book", "args": {"people": 4}}]})
HARMLESS = scenario("harmless", trajectory_rules=[{"never": "delete"}])


def user(so_far: Any) -> str | None:
    return None if len(so_far) > 1 else "For 4 people, that is all."


def booker(text: str, state: Json) -> Any:
    state["_seen"] = 1
    if "4" not in text:
        return "For how many people?"
    state["orders"] = 1
    return {
        "text": "The table is booked for 4 people. It costs $30.",
        "tool_calls": [{"name": "book", "args": {"people": 4}}],
    }


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.sqlite3'}"


def run(store: str, *cases: Json, agent: Any = booker, criteria: Json = CRITERIA) -> str:
    sets = {"eval_set_id": "s", "eval_cases": list(cases)}
    result = proctor.evaluate_sync(agent, sets, config={"criteria": criteria}, store=store, user=user)
    return result.run_id or ""


def audit(*cases: Json, criteria: Json = CRITERIA, **options: Any) -> AuditResult:
    sets = {"eval_set_id": "s", "eval_cases": list(cases)}
    return proctor.audit_sync(sets, config={"criteria": criteria}, **options)


def survivors(found: AuditResult, family: str) -> list[str]:
    names = {name for name, (_, of) in found.operators.items() if of == family}
    fates = [each for one in found.cases for each in one.mutants if each.operator in names]
    return [each.operator for each in fates if each.fate is Fate.SURVIVED]


def test_agents_that_do_nothing_are_tried_on_scenarios_without_a_run() -> None:
    found = audit(BOOKED, HARMLESS)
    assert [one.eval_id for one in found.passed_by_any] == ["harmless"]
    assert found.audited == []
    assert found.score.made == 0
    assert "--from RUN" in audit_text(found)


def test_the_conversation_of_a_run_is_mutated(store: str) -> None:
    run_id = run(store, BOOKED)
    found = audit(BOOKED, from_run=run_id, store=store)
    assert found.from_run == run_id
    assert not found.contradictions
    assert [one.eval_id for one in found.audited] == ["booked"]
    assert not survivors(found, "calls")
    assert {"wrong-amount", "negation"} <= {*survivors(found, "answers")}
    assert f"conversations of run {run_id}" in audit_text(found)
    assert audit_data(found)["from_run"] == run_id


@pytest.mark.slow
def test_the_final_state_that_the_run_changed_is_proposed_and_catches_its_faults(store: str) -> None:
    run_id = run(store, BOOKED)
    found = audit(BOOKED, from_run=run_id, store=store)
    assert {*survivors(found, "state")} == {"state-missing", "state-wrong", "state-stale"}
    (proposal,) = [each for each in found.proposals if each.eval_id and "state" in each.change]
    assert proposal.catches == 3
    assert '"orders": 1' in proposal.snippet
    assert "_seen" not in proposal.snippet
    changed = audit({**BOOKED, "final_session_state": {"orders": 1}}, from_run=run_id, store=store)
    assert not changed.contradictions
    assert not survivors(changed, "state")


def test_expectations_of_a_scenario_hold_in_any_turn(store: str) -> None:
    run_id = run(store, HARMLESS)
    found = audit(HARMLESS, from_run=run_id, store=store)
    (proposal,) = [each for each in found.proposals if each.change.startswith("expectations")]
    assert '"turn"' not in proposal.snippet


def test_a_trial_that_failed_is_no_conversation_to_mutate(store: str) -> None:
    run_id = run(store, BOOKED, agent=lambda text: "No.")
    found = audit(BOOKED, from_run=run_id, store=store)
    assert found.audited == []
    assert [each.problem.partition("(")[2] for each in found.cases] == [
        "--from RUN mutates its first trial that passed)"
    ]


SEATS = case("seats", turn("How many seats are there?", "There are 42 seats in it."))
LOOSE = {"response_match_score": 0.3}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param("How many seats are there?", "There are exactly 42 seats in it.", id="the same message"),
        pytest.param("How many seats?", "There are 42 seats in it.", id="another message: its own conversation"),
    ],
)  # fmt: skip
def test_a_recorded_case_is_audited_with_the_conversation_of_the_run(
    store: str, asked: str, answer: str
) -> None:
    recorded = case("seats", turn(asked, "There are 42 seats in it."))
    run_id = run(store, recorded, agent=lambda text: "There are exactly 42 seats in it.", criteria=LOOSE)
    found = audit(SEATS, criteria=LOOSE, from_run=run_id, store=store, case="seats")
    assert text_of(found.evidence[0].expected[0].final_response) == answer


def test_a_stored_audit_shows_what_the_run_had(store: str) -> None:
    run_id = run(store, BOOKED)
    found = audit(BOOKED, HARMLESS, from_run=run_id, store=store)
    opened = open_store_url(store)
    try:
        loaded = load_audit(opened, found.run_id)
        assert loaded.from_run == run_id
        assert loaded.score == found.score
        assert [one.eval_id for one in loaded.passed_by_any] == ["harmless"]
        evidence = load_case_audit(opened, found.run_id, "booked").evidence
        amount = next(each for each in evidence if each.operator == "wrong-amount")
        assert "It costs $30." in text_of(amount.expected[0].final_response)
    finally:
        opened.close()


def test_an_unknown_run_is_one_message(store: str) -> None:
    run(store, BOOKED)
    with pytest.raises(UnknownNameError, match="nothere"):
        audit(BOOKED, from_run="nothere", store=store)


class DeclaredBooker:
    """Books, and declares its tool."""

    async def answer(
        self, message: proctor.Content, session: proctor.Session
    ) -> AsyncIterator[proctor.Event]:
        """Answer a message."""
        yield proctor.Event.called("book", {"people": 4})
        yield proctor.Event.returned("book", {})
        yield proctor.Event.said("The table is booked.")

    def describe(self) -> proctor.AgentInfo:
        """Declare the tool."""
        tools = [{"function_declarations": [{"name": "book"}]}]
        desk = {"name": "desk", "instructions": "", "tool_declarations": tools}
        return proctor.AgentInfo("desk", app_details={"agent_details": {"desk": desk}})


def test_what_the_agent_declared_is_known_in_the_audit_of_its_run(store: str) -> None:
    criteria = {"known_tools": 1.0}
    run_id = run(store, HARMLESS, agent=DeclaredBooker(), criteria=criteria)
    found = audit(HARMLESS, criteria=criteria, from_run=run_id, store=store, mutants=["call-added"])
    assert not found.contradictions
    assert found.score.caught == found.score.made > 0
