"""Screen 9's forms for what a case expects beyond equal calls: matchers of every kind, groups, limits, rules, a schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Site
from tests.browser.editor.test_cases import Sets, saved

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

ARGS: dict[str, Any] = {
    "date": {"$match": "date", "value": "2024-05-01", "part": "date", "formats": ["%d.%m.%Y"]},
    "covers": {"$match": "number", "value": 2, "tolerance": 0.50, "read_text": True},
    "code": {"$match": "regex", "pattern": "^A", "full": False, "ignore_case": True},
    "ways": {"$match": "set", "value": ["a", "b"], "repeats": True},
    "name": {"$match": "text", "value": "Ada", "spaces": "remove"},
    "where": {"$match": "one_of", "values": ["sea", {"$match": "text", "value": "lake"}]},
    "guest": {"deep": [{"$match": "present"}, 1.0]},
    "raw": {"$match": "json", "value": {"a": 1.0}, "strict": True, "parse": False},
    "more": {"$match": "subset", "value": {"k": 1}},
    "plain": 12345678901234567890,
    "any": {"$match": "ignore"},
    "same": {"$match": "exact", "value": None},
}
EXPECTATIONS: dict[str, Any] = {
    "turn": 1,
    "calls": [
        {"any_order": ["get_calendar", {"tool": ["find", "seek"], "args": ARGS, "other_args": "allowed"}]},
        {"tool": "log", "optional": True},
        {"any_of": ["ask_guest", ["hold", {"tool": "book", "args": {}}]], "optional": True},
        {"tool": "send_mail", "at_least": 1, "at_most": 2, "response": {"$match": "subset", "value": {"sent": True}}},
    ],
    "others": "forbidden",
    "forbidden": ["cancel", {"tool": "refund", "args": {"amount": {"$match": "present"}}}],
    "limits": [{"tool": "find", "at_most": 3}],
}  # fmt: skip
RULES: list[Any] = [
    {"never": "delete_account"},
    {"call": "send_mail", "at_most": 1, "same": "to"},
    {"call": "pay", "only_after": {"tool": "confirm", "args": {"ok": True}}, "same": {"order": "order_id"}},
    {
        "call": "open_file",
        "implies_later": "close_file",
        "same": ["path", "disk"],
        "name": "files are closed",
    },
    {"no": "refund", "before": "check_order"},
]
CASE: dict[str, Any] = {
    "eval_id": "rich",
    "conversation": [{"user_content": {"parts": [{"text": "hi"}], "role": "user"}}],
    "expectations": EXPECTATIONS,
    "trajectory_rules": RULES,
    "response_schema": {"type": "object", "required": ["id"]},
    "final_session_state": {"when": {"$match": "regex", "pattern": "^19"}, "n": 1.50},
}


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with eval sets; each test writes its own."""
    folder: Path = tmp_path_factory.mktemp("matchers")
    return serve(folder, folder / "store.sqlite3")


@pytest.fixture
def sets(site: Site, request: pytest.FixtureRequest) -> Sets:
    made = Sets(site, "".join(char if char.isalnum() else "_" for char in request.node.name)[:60])
    made.write(CASE)
    return made


def group(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def written(sets: Sets) -> str:
    return json.dumps(sets.cases()[0])


@pytest.mark.nightly
def test_everything_has_a_form_and_saving_another_field_changes_none_of_it(
    page: Page, sets: Sets, axe: Look, fits: Look, shot: Shot
) -> None:
    before = sets.path.read_text()
    page.goto(sets.case("rich"))
    calls = group(page, "Expected tool calls, with matchers")
    expect(calls).to_be_visible()
    for kind in ("date", "number", "regex", "set", "text", "one_of", "json", "subset", "ignore", "exact"):
        chosen = calls.get_by_role("combobox").locator(f"option[value={kind}]:checked")
        expect(chosen.first).to_be_attached()
    expect(calls.get_by_label("Pattern (Python’s re)").first).to_have_value("^A")
    expect(group(page, "Rules for the calls").get_by_label("Of the same").first).to_have_value("to")
    axe(page)
    shot(page, "eval-case-matchers")
    fits(page)
    page.get_by_label("Tags").fill("x")
    saved(page)
    now = json.loads(sets.path.read_text())
    assert json.dumps({**now["eval_cases"][0], "tags": []}) == json.dumps({**CASE, "tags": []})
    assert sets.path.read_text().replace(',\n      "tags": [\n        "x"\n      ]', "") == before


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("kind", "fill", "wanted"),
    [
        ("regex", {"Pattern (Python’s re)": "^R.*"}, {"$match": "regex", "pattern": "^R.*"}),
        ("text", {"Value": "rome"}, {"$match": "text", "value": "rome"}),
        ("date", {"Value": "2024-05-01", "Maximum difference in seconds": "60"}, {"$match": "date", "value": "2024-05-01", "within": 60}),
        ("number", {"Value, as JSON": "19.5", "Absolute tolerance": "0.10"}, {"$match": "number", "value": 19.5, "tolerance": 0.10}),
        ("present", {}, {"$match": "present"}),
        ("set", {"Value, as JSON": '["a", 1.0]'}, {"$match": "set", "value": ["a", 1.0]}),
        ("subset", {"Value, as JSON": '{"a": 1}'}, {"$match": "subset", "value": {"a": 1}}),
    ],
)  # fmt: skip
def test_a_value_of_the_final_state_becomes_a_matcher(
    page: Page, sets: Sets, kind: str, fill: dict[str, str], wanted: Any
) -> None:
    page.goto(sets.case("rich"))
    value = group(group(page, "Expected keys"), "n")
    value.get_by_label("n is", exact=True).select_option(kind)
    for label, text in fill.items():
        value.get_by_label(label, exact=True).fill(text)
    saved(page)
    assert written(sets) == json.dumps(
        {**CASE, "final_session_state": {**CASE["final_session_state"], "n": wanted}}
    )


@pytest.mark.nightly
def test_looking_at_another_kind_and_coming_back_loses_nothing(page: Page, sets: Sets) -> None:
    page.goto(sets.case("rich"))
    value = group(group(page, "Expected keys"), "when")
    kinds = value.get_by_label("when is", exact=True)
    for kind in ("number", "ignore", "one_of", "regex"):
        kinds.select_option(kind)
    expect(value.get_by_label("Pattern")).to_have_value("^19")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


@pytest.mark.nightly
def test_looking_at_another_kind_of_rule_and_coming_back_loses_nothing(page: Page, sets: Sets) -> None:
    page.goto(sets.case("rich"))
    for number, kind in ((3, "only_after"), (4, "implies_later"), (5, "before")):
        kinds = page.get_by_label(f"Kind of rule {number}", exact=True)
        kinds.select_option("never")
        kinds.select_option("at_most")
        kinds.select_option(kind)
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


@pytest.mark.nightly
def test_a_kind_that_is_unknown_can_be_restored(page: Page, sets: Sets) -> None:
    sets.write({**CASE, "final_session_state": {"n": {"$match": "numbr", "value": 5, "tol": 1}}})
    page.goto(sets.case("rich"))
    kinds = group(group(page, "Expected keys"), "n").get_by_label("n is", exact=True)
    kinds.select_option("number")
    kinds.select_option("numbr")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


@pytest.mark.nightly
@pytest.mark.slow
def test_calls_groups_limits_and_rules_are_made_in_the_form(page: Page, sets: Sets) -> None:
    sets.write({key: CASE[key] for key in ("eval_id", "conversation")})
    page.goto(sets.case("rich"))
    page.get_by_role("button", name="State expectations").click()
    calls = group(page, "Calls in this order")
    calls.get_by_role("button", name="+ call").click()
    calls.get_by_label("Call 1: tool").fill("find")
    calls.get_by_role("button", name="Call 1: + arguments, response …").click()
    calls.get_by_label("At least").fill("1")
    calls.get_by_role("button", name="State arguments").click()
    calls.get_by_label("New argument").fill("city")
    calls.get_by_label("New argument").press("Enter")
    calls.get_by_label("city is", exact=True).select_option("one_of")
    calls.get_by_role("button", name="+ value").click()
    values = group(calls, "Values")
    group(values, "Value 1").get_by_role("textbox").fill('"Rome"')
    group(values, "Value 2").get_by_role("textbox").fill('"Oslo"')
    calls.get_by_label("Arguments that are not named").select_option("allowed")
    calls.get_by_role("button", name="+ one of these").click()
    either = group(page, "Group 2")
    either.get_by_label("Call 1: tool").fill("ask")
    either.get_by_label("Call 2: tool").fill("tell")
    either.get_by_label("Optional").check()
    page.get_by_role("button", name="Forbid a call").click()
    group(page, "Forbidden calls").get_by_label("Call 1: tool").fill("cancel")
    page.get_by_role("button", name="Limit a call").click()
    group(page, "Limited calls").get_by_label("Call 1: tool").fill("find")
    page.get_by_role("button", name="State rules").click()
    page.get_by_label("Kind of rule 1").select_option("only_after")
    page.get_by_label("A: tool").fill("pay")
    page.get_by_label("B, which is called before: tool").fill("confirm")
    page.get_by_label("Of the same").fill("order.id")
    saved(page)
    case = sets.cases()[0]
    values_of = {"$match": "one_of", "values": ["Rome", "Oslo"]}
    call = {"tool": "find", "at_least": 1, "args": {"city": values_of}, "other_args": "allowed"}
    assert case["expectations"] == {
        "calls": [call, {"any_of": ["ask", "tell"], "optional": True}],
        "forbidden": ["cancel"],
        "limits": [{"tool": "find", "at_most": 1}],
    }
    assert case["trajectory_rules"] == [{"call": "pay", "only_after": "confirm", "same": "order.id"}]
    expect(page.get_by_role("region", name="Problems").get_by_text("error", exact=True)).to_have_count(0)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("label", "text", "reported"),
    [
        ("Pattern (Python’s re)", "(", "is not a regular expression"),
        ("Absolute tolerance", "-1", "must be a number from 0"),
        ("Turn", "7", "the case has 1 turn"),
        ("Of the same", "", "expected the name of an argument"),
    ],
)
def test_what_the_server_refuses_is_reported_at_the_field(
    page: Page, sets: Sets, label: str, text: str, reported: str
) -> None:
    page.goto(sets.case("rich"))
    field = page.get_by_label(label, exact=True).first
    if label == "Of the same":
        page.get_by_role("button", name="Rules for the calls: As JSON").click()
        page.get_by_label("Rules for the calls, as JSON").fill('[{"call": "a", "at_most": 1, "same": 5}]')
        page.get_by_role("button", name="Rules for the calls: Fields").click()
    else:
        field.fill(text)
    expect(page.get_by_role("alert").filter(has_text=reported).first).to_be_visible()
    expect(page.get_by_role("region", name="What is wrong")).to_contain_text("no run can start")
    saved(page)


@pytest.mark.nightly
def test_an_invalid_number_is_not_saved_and_not_lost(page: Page, sets: Sets) -> None:
    page.goto(sets.case("rich"))
    field = page.get_by_label("Absolute tolerance").first
    expect(field).to_have_value("0.5")
    field.fill("0.")
    expect(page.get_by_role("alert").filter(has_text="Expected a number")).to_be_visible()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    field.fill("0.250")
    saved(page)
    assert '"tolerance": 0.25' in sets.path.read_text()


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        pytest.param("expectations", {"calls": [{"tool": "a", "otherArgs": 1}]}, "otherArgs", id="an unknown key of a call"),
        pytest.param("expectations", {"calls": [{"$match": 1}, 5, None]}, None, id="calls that are none"),
        pytest.param("expectations", [{"calls": []}, 7], None, id="a list with a number"),
        pytest.param("expectations", "x", None, id="a text"),
        pytest.param("trajectory_rules", {"never": ["send_sms"]}, None, id="rules that are no list"),
        pytest.param("trajectory_rules", [{"never": "a", "at_most": 1}, {"never": "b", "odd": {"x": 1.0}}], "odd", id="two kinds in one"),
        pytest.param("final_session_state", {"k": {"$match": "numbr", "x": 1.0}, "l": {"$match": 5}, "m": {"$match": "text", "value": 5, "z": 0}}, "z", id="matchers that are none"),
        pytest.param("response_schema", [1], None, id="a schema that is a list"),
    ],
)  # fmt: skip
def test_what_no_form_shows_is_shown_as_json_and_kept(
    page: Page, sets: Sets, key: str, value: Any, shown: str | None
) -> None:
    case = {**CASE, key: value}
    sets.write(case)
    page.goto(sets.case("rich"))
    if shown:
        expect(page.get_by_label("More keys, as JSON").filter(has_text=shown)).to_be_attached()
    page.get_by_label("Tags").fill("x")
    saved(page)
    assert written(sets) == json.dumps({**case, "tags": ["x"]})


@pytest.mark.nightly
def test_expectations_of_the_session_input_are_edited_in_place(page: Page, sets: Sets) -> None:
    session = {"app_name": "a", "user_id": "u", "expectations": {"forbidden": ["x"]}, "mine": 1}
    case = {key: CASE[key] for key in ("eval_id", "conversation")} | {"session_input": session}
    sets.write(case)
    page.goto(sets.case("rich"))
    stated = group(page, "Expected tool calls, with matchers (in the session input)")
    stated.get_by_label("Call 1: tool").fill("y")
    saved(page)
    assert sets.cases()[0] == {
        **case,
        "session_input": {**session, "expectations": {"forbidden": ["y"]}},
    }


@pytest.mark.nightly
def test_the_place_of_what_is_wrong_deep_inside_fits_on_a_phone(page: Page, sets: Sets, fits: Look) -> None:
    calls: list[Any] = [""]
    for group_of in ("in_order", "any_order", "in_order", "any_of"):
        calls = ["book", "ask", {group_of: calls}]
    sets.write({**CASE, "expectations": [{"calls": calls}]})
    page.goto(sets.case("rich"))
    page.get_by_label("Tags").fill("x")  # what is being written is checked
    wrong = page.get_by_role("region", name="What is wrong")
    expect(wrong).to_contain_text("/expectations/0/calls/2/any_of/2/in_order/2/any_order")
    fits(page)
