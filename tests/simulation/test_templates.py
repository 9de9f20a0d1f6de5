"""Instructions of the user's own: a sandboxed template, filled once, checked before the run."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from proctor.errors import MissingExtraError, SetupError
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.event import Event
from proctor.simulation.pool import RunUsers
from proctor.simulation.user_prompt import PLACEHOLDERS, check_template, fill
from tests.simulation.conversations import config_of, next_of, player, scenario_case, turn

ALL = "{{ stop_signal }}|{{conversation_plan}}|{{ conversation_history }}"
PERSONA = {
    "id": "p",
    "description": "d",
    "behaviors": [
        {
            "name": "n",
            "description": "x {{ stop_signal }}",
            "behavior_instructions": ["i"],
            "violation_rubrics": ["v"],
        }
    ],
}


def prompt(instructions: str | None, **scenario: Any) -> str:
    model = ScriptedModel(["ok"])
    next_of(player(model, scenario_case(**scenario), custom_instructions=instructions), turn("hello"))
    return model.asked[0].text


def test_the_placeholders_are_filled() -> None:
    assert prompt(ALL) == "</finished>|Ask for the weather in Paris.|user: hello\n\nagent: ok"


@pytest.mark.parametrize(
    "data", ["{{ stop_signal }}", "{{ 7 * 7 }}", "{% for x in y %}", "{{ conversation_history }}"]
)
def test_filled_values_are_not_templates(data: str) -> None:
    assert prompt(ALL, conversation_plan=data).split("|")[1] == data
    model = ScriptedModel(["ok"])
    next_of(player(model, custom_instructions=ALL), turn("hello", Event.said(data)))
    assert model.asked[0].text.endswith(f"agent: {data}")


def test_a_personas_texts_have_the_stop_signal_filled_in_once() -> None:
    persona = {**PERSONA, "description": "{{ stop_signal }} {{ conversation_plan }}"}
    assert prompt(ALL + "|{{ persona }}", user_persona=persona).split("|")[3] == (
        "</finished> {{ conversation_plan }}\n\n### n\nx </finished>\n* i"
    )
    assert "### n\nx </finished>\n* i" in prompt(None, user_persona=persona)


def test_a_jinja_template_is_rendered_in_its_sandbox() -> None:
    template = ALL + "|{% for b in persona.behaviors %}{{ b.name }}{% endfor %}{% if persona %}!{% endif %}"
    assert prompt(template, user_persona=PERSONA).split("|")[3] == "n!"
    assert prompt(ALL + "{% if persona %}!{% endif %}").endswith("agent: ok")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("{{ plan }}", "unknown placeholder {{ plan }}"),
        ("{% for %}", "TemplateSyntaxError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ conversation_plan.format.__globals__ }}", "SecurityError"),
        ("{{ nothing.at_all }}", "UndefinedError"),
    ],
)
def test_a_template_that_cannot_be_is_refused_before_the_run(more: str, message: str) -> None:
    with pytest.raises(SetupError, match="custom_instructions") as refused:
        check_template(ALL + more, with_persona=False)
    assert message in str(refused.value)
    (problem,) = RunUsers(ScriptedModel("x")).problems(
        scenario_case(), config_of(custom_instructions=ALL + more)
    )
    assert message in str(problem)


def test_missing_jinja_is_reported_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    more = ALL + "{% if persona %} {% endif %} {# a comment #}"
    with pytest.raises(
        MissingExtraError, match=r"needs the package 'jinja2'\. Run: pip install 'proctor\[jinja2\]'"
    ):
        check_template(more, with_persona=False)
    check_template(ALL, with_persona=False)  # placeholders alone need nothing


def test_both_template_engines_give_the_same_text() -> None:
    values = {name: f"<{name}>" for name in PLACEHOLDERS}
    assert "!" + fill(ALL + "\n\n", values) == fill("{% if 1 %}!{% endif %}" + ALL + "\n\n", values)


# --- data stays data (faults.md 29) ------------------------------------------------------------------------------------

_SIGNS = [
    "{",
    "}",
    "{{ stop_signal }}",
    "{{ conversation_history }}",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "%s",
    "%(a)s",
    "${x}",
    "{0}",
]
_SIGNS += [
    "{% for x in y %}",
    "{{ 7 * 7 }}",
    "\\1",
    "\\g<0>",
    "a",
    " ",
    "\n",
    "user:",
    "</finished>",
    "\x00",
    "<b>",
]
data = st.lists(st.one_of(st.sampled_from(_SIGNS), st.text(max_size=3)), max_size=8).map("".join)


def stays(text: str) -> None:
    """Filled values appear verbatim with either engine."""
    values = dict.fromkeys(PLACEHOLDERS, f"[{text}]")
    wanted = "|".join([f"[{text}]"] * 3)
    assert fill(ALL, values) == wanted
    assert fill(ALL + "{% if not persona %}|{% endif %}", values) == wanted + "|"
    plan = text.replace("\x00", "")  # the placeholder of the conversation, and in no text of a file
    assert prompt(ALL, conversation_plan=plan) == f"</finished>|{plan}|user: hello\n\nagent: ok"


@pytest.mark.slow
@given(data)
@example("{{ conversation_plan }}\\1{% raw %}")
def test_data_in_a_template_is_literal_text(text: str) -> None:
    stays(text)


@pytest.mark.nightly
@given(data)
@settings(max_examples=5_000, deadline=None)
def test_data_in_a_template_is_literal_text_five_thousand_times(text: str) -> None:
    stays(text)


def test_a_persona_needs_its_place_in_the_template() -> None:
    users = RunUsers(ScriptedModel("x"))
    case = scenario_case(user_persona=PERSONA)
    (problem,) = users.problems(case, config_of(custom_instructions=ALL))
    assert "has no {{ persona }}" in str(problem)
    assert users.problems(case, config_of(custom_instructions=ALL + "{{ persona }}")) == []
    assert users.problems(scenario_case(), config_of(custom_instructions=ALL)) == []


def test_a_model_that_cannot_be_asked_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (problem,) = RunUsers().problems(scenario_case(), config_of(model="openai/gpt-4o-mini"))
    assert str(problem).startswith("user simulator: ")
    (problem,) = RunUsers(lambda so_far: None).problems(scenario_case(), config_of(max_allowed_invocations=0))
    assert "max_allowed_invocations 0" in str(problem)
