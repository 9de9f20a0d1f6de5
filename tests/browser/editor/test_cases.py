"""Screen 9: eval sets and their cases, edited by people in browsers and on disk; nothing is lost, and hostile text is text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from tests.browser.conftest import Problems, Site, watch

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

XSS = "<img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3))\u202e"
FULL: dict[str, Any] = {
    "eval_id": "booking",
    "conversation": [
        {
            "invocation_id": "i-1",
            "user_content": {"parts": [{"text": "A table for two, please."}], "role": "user"},
            "intermediate_data": {
                "tool_uses": [{"name": "book_table", "args": {"covers": 2, "time": "19:00", "price": 1.0}, "id": "c1"}],
                "tool_responses": [{"name": "book_table", "response": {"ok": True}}],
                "intermediate_responses": [["agent", [{"text": "One moment."}]]],
            },
            "final_response": {"parts": [{"text": "Done!"}], "role": "model"},
            "of_mine": {"deep": [1.50, None]},
        },
        {
            "user_content": {
                "parts": [{"text": "And this?"}, {"file_data": {"file_uri": "gs://b/x.png", "mime_type": "image/png"}}],
                "role": "user",
            },
            "intermediate_data": {
                "invocation_events": [
                    {"author": "agent", "content": {"parts": [{"function_call": {"name": "look", "args": {}}}]}, "odd": 1}
                ]
            },
            "rubrics": [
                {"rubric_id": "r1", "rubric_content": {"text_property": "Is polite."}, "type": "FINAL_RESPONSE_QUALITY"}
            ],
        },
    ],
    "session_input": {"app_name": "travel", "user_id": "u", "state": {"city": "Rome", "n": 12345678901234567890}, "x": 1},
    "rubrics": [{"rubric_id": "r2", "rubric_content": {"text_property": "Books."}, "type": "TOOL_USE_QUALITY", "z": 0}],
    "final_session_state": {"covers": 2, "when": {"$match": "regex", "pattern": "^19"}},
    "tags": ["smoke", "de"],
    "trajectory_rules": {"never": ["send_sms"]},
    "mine": {"kept": "unchanged"},
}  # fmt: skip
SCENARIO: dict[str, Any] = {
    "eval_id": "played",
    "opening": ["hello"],
    "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "ask for a table", "user_persona": "NOVICE"},
}  # fmt: skip


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with eval sets; each test writes its own."""
    folder = tmp_path_factory.mktemp("sets")
    return serve(folder, folder / "store.sqlite3")


class Sets:
    """One test's eval set, on disk and in the address."""

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.path = site, site.folder / f"{name}.evalset.json"

    def write(self, *cases: Any, text: str = "") -> None:
        document = {"eval_set_id": self.path.name.split(".")[0], "note": 1.0, "eval_cases": list(cases)}
        self.path.write_text(text or json.dumps(document, indent=2))

    def cases(self) -> list[Any]:
        found: list[Any] = json.loads(self.path.read_text())["eval_cases"]
        return found

    @property
    def address(self) -> str:
        rows = self.site.get("/api/eval-sets")["items"]
        return "/eval-sets/" + str(next(row["id"] for row in rows if row["path"] == self.path.name))

    def case(self, eval_id: str) -> str:
        return f"{self.address}/cases/{quote(eval_id)}"


@pytest.fixture
def sets(site: Site, request: pytest.FixtureRequest) -> Sets:
    name = re.sub(r"\W+", "_", request.node.name)[:60]
    made = Sets(site, name)
    made.write(FULL, SCENARIO)
    return made


def note_dialogs(page: Page, reported: list[str]) -> None:
    """Write down what a page asks in a dialog of the browser's own: nothing ever should."""

    def note(dialog: Dialog) -> None:
        reported.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)


def saved(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").get_by_text("saved", exact=True)).to_be_visible()


def test_every_set_and_case_is_listed(page: Page, sets: Sets, axe: Look, fits: Look, shot: Shot) -> None:
    (sets.site.folder / "broken.evalset.json").write_text('{"eval_set_id": "b", "eval_cases": [{"a": 1}]}')
    page.goto("/eval-sets")
    expect(page.get_by_role("link", name=sets.path.name)).to_be_visible()
    axe(page)
    shot(page, "eval-sets")
    page.get_by_role("link", name=sets.path.name).click()
    expect(page.get_by_role("table", name="Cases").get_by_role("row")).to_have_count(3)
    expect(page.get_by_role("region", name="Problems")).to_contain_text("of_mine")
    axe(page)
    shot(page, "eval-set")
    page.get_by_role("textbox", name="Filter cases").fill("tag:smoke")
    expect(page.get_by_role("table", name="Cases").get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("q=tag%3Asmoke"))
    fits(page)
    (sets.site.folder / "broken.evalset.json").unlink()


@pytest.mark.nightly
def test_every_field_is_shown_and_one_is_changed(
    page: Page, sets: Sets, axe: Look, fits: Look, shot: Shot
) -> None:
    before = sets.path.read_text()
    page.goto(sets.case("booking"))
    expect(page.get_by_role("heading", name="booking")).to_be_visible()
    for label in ("Call 1: tool", "Invocation id", "App", "Rubric id", "Tags", "What must hold"):
        expect(page.get_by_label(label, exact=True).first).to_be_attached()
    expect(page.get_by_label("Rules for the calls, as JSON")).to_have_value(re.compile("send_sms"))
    expect(page.get_by_label("Events, as JSON")).to_have_value(re.compile('"odd": 1'))
    axe(page)
    shot(page, "eval-case")
    fits(page)
    page.get_by_label("Expected answer", exact=True).get_by_role("textbox").fill("Done, for two!")
    expect(page.get_by_role("status").get_by_text("not saved")).to_be_visible()
    saved(page)
    assert sets.path.read_text() == before.replace('"Done!"', '"Done, for two!"')


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("label", "text", "where"),
    [
        pytest.param("User message", "Four!", ["conversation", 0, "user_content", "parts", 0, "text"], id="a message"),
        pytest.param("Call 1: tool", "book", ["conversation", 0, "intermediate_data", "tool_uses", 0, "name"], id="a tool"),
        pytest.param("App", "other", ["session_input", "app_name"], id="the app"),
        pytest.param("Id", "renamed", ["eval_id"], id="the id"),
    ],
)  # fmt: skip
def test_a_field_is_changed_and_nothing_else(
    page: Page, sets: Sets, label: str, text: str, where: list[Any]
) -> None:
    page.goto(sets.case("booking"))
    page.get_by_role("textbox", name=label, exact=True).first.fill(text)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").get_by_text("saved", exact=True)).to_be_visible()
    wanted = json.loads(json.dumps(FULL))
    place = wanted
    for step in where[:-1]:
        place = place[step]
    place[where[-1]] = text
    assert json.dumps(sets.cases()[0]) == json.dumps(wanted)
    assert "12345678901234567890" in sets.path.read_text()
    assert "1.5" in sets.path.read_text()


@pytest.mark.nightly
@pytest.mark.slow
def test_turns_calls_state_and_rubrics_are_added_moved_and_removed(page: Page, sets: Sets) -> None:
    page.goto(sets.case("booking"))
    page.get_by_role("button", name="Move Turn 2 up").click()
    page.get_by_role("button", name="Add a turn").click()
    third = page.get_by_role("region", name="Turn 3")
    third.get_by_role("textbox", name="User message", exact=True).fill("Bye")
    third.get_by_role("button", name="Add expected calls").click()
    third.get_by_role("button", name="Add a call").click()
    third.get_by_role("textbox", name="Call 1: tool").fill("hang_up")
    third.get_by_role("textbox", name="Arguments, as JSON").fill('{"at": 1.0}')
    third.get_by_role("button", name="Add an expected answer").click()
    third.get_by_role("group", name="Expected answer").get_by_role("textbox").fill("Bye!")
    page.get_by_label("New key of the state").fill("lang")
    page.get_by_label("New key of the state").press("Enter")
    page.get_by_role("textbox", name="lang", exact=True).fill('"de"')
    page.get_by_role("button", name="Remove covers").click()
    page.get_by_role("button", name="+ rubric of the case").click()
    page.get_by_label("What must hold").last.fill("Ends with goodbye.")
    saved(page)
    case = sets.cases()[0]
    first, second, third_turn = case["conversation"]
    assert (first, second) == (FULL["conversation"][1], FULL["conversation"][0])
    assert third_turn == {
        "user_content": {"parts": [{"text": "Bye"}], "role": "user"},
        "intermediate_data": {"tool_uses": [{"name": "hang_up", "args": {"at": 1.0}}]},
        "final_response": {"parts": [{"text": "Bye!"}], "role": "model"},
    }
    assert case["session_input"]["state"] == {**FULL["session_input"]["state"], "lang": "de"}
    assert case["final_session_state"] == {"when": FULL["final_session_state"]["when"]}
    assert case["rubrics"][1]["rubric_content"] == {"text_property": "Ends with goodbye."}
    assert case["mine"] == FULL["mine"]


@pytest.mark.nightly
def test_a_scenario_is_edited(page: Page, sets: Sets, axe: Look, shot: Shot) -> None:
    page.goto(sets.case("played"))
    page.get_by_label("Plan for the rest").fill("ask for a table\nfor two")
    page.get_by_label("Persona").select_option("EXPERT")
    page.get_by_role("region", name="Opening turn 1").get_by_role("textbox").fill("good day")
    axe(page)
    shot(page, "eval-case-scenario")
    saved(page)
    case = sets.cases()[1]
    assert case["conversation_scenario"] == {
        "starting_prompt": "hi",
        "conversation_plan": "ask for a table\nfor two",
        "user_persona": "EXPERT",
    }
    assert case["opening"] == ["good day"]


def test_the_change_is_shown_before_it_is_saved(page: Page, sets: Sets, axe: Look, shot: Shot) -> None:
    page.goto(sets.case("booking"))
    page.get_by_role("textbox", name="App", exact=True).fill("other")
    before = sets.path.read_text()
    page.get_by_role("button", name="Show changes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row").filter(has_text='"app_name": "other"')).to_be_visible()
    expect(dialog.get_by_role("row").filter(has_text='"app_name": "travel"')).to_be_visible()
    axe(page)
    shot(page, "eval-case-changes")
    assert sets.path.read_text() == before
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert sets.cases()[0]["session_input"]["app_name"] == "other"


@pytest.mark.nightly
def test_invalid_json_is_not_saved_and_not_lost(page: Page, sets: Sets) -> None:
    page.goto(sets.case("booking"))
    arguments = page.get_by_label("Arguments, as JSON")
    arguments.fill('{"covers": 2,}')
    expect(page.get_by_role("alert").filter(has_text="line 1, column 14").first).to_be_visible()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(arguments).to_have_value('{"covers": 2,}')
    arguments.fill('{"covers": 3}')
    saved(page)
    assert sets.cases()[0]["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"] == {"covers": 3}


def test_what_is_wrong_is_reported_at_its_field(page: Page, sets: Sets, problems: Problems) -> None:
    problems.expect("422")
    page.goto(sets.case("booking"))
    page.get_by_role("textbox", name="Id", exact=True).fill("played")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="has this id already").first).to_be_visible()
    assert sets.cases()[0]["eval_id"] == "booking"


@pytest.mark.nightly
@pytest.mark.slow
def test_two_browsers_edit_one_case(
    page: Page, context: BrowserContext, sets: Sets, problems: Problems, axe: Look, shot: Shot
) -> None:
    problems.expect("412")
    other = context.new_page()
    watch(other, problems)
    for one in (page, other):
        one.goto(sets.case("booking"))
        expect(one.get_by_role("heading", name="booking")).to_be_visible()
    other.get_by_role("textbox", name="App", exact=True).fill("theirs")
    other.get_by_role("textbox", name="User", exact=True).fill("their user")
    saved(other)
    page.get_by_role("textbox", name="App", exact=True).fill("mine")
    page.get_by_label("Tags").fill("smoke, mine")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="Someone else changed this case")
    expect(dialog).to_contain_text("1 place was changed on both sides")
    axe(page)
    shot(page, "eval-case-conflict")
    assert sets.cases()[0]["session_input"]["app_name"] == "theirs"
    dialog.get_by_role("button", name="Use what is chosen").click()
    saved(page)
    case = sets.cases()[0]
    assert (case["session_input"]["app_name"], case["session_input"]["user_id"]) == ("mine", "their user")
    assert case["tags"] == ["smoke", "mine"]
    assert case["session_input"]["x"] == 1


@pytest.mark.nightly
def test_a_case_that_another_user_removed_is_put_back(page: Page, sets: Sets, problems: Problems) -> None:
    problems.expect("412")
    page.goto(sets.case("booking"))
    page.get_by_role("textbox", name="App", exact=True).fill("mine")
    sets.write(SCENARIO)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Restore my version").click()
    expect(page.get_by_role("status").get_by_text("put back")).to_be_visible()
    assert [case["eval_id"] for case in sets.cases()] == ["played", "booking"]


@pytest.mark.nightly
def test_comments_go_only_when_that_is_confirmed(page: Page, sets: Sets, problems: Problems) -> None:
    problems.expect("409")
    sets.write(
        text='{"eval_set_id": "s", "eval_cases": [\n  // first\n  {"eval_id": "a", "conversation": [],\n'
        '   "rules": [\n     {"k": 1},\n     // because\n     {"k": 2}\n   ]}\n]}'
    )
    page.goto(sets.case("a"))
    everything = page.get_by_label("All keys of the case that have no field above, as JSON")
    everything.fill('{"rules": ["other"]}')
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert").filter(has_text="// because").first).to_be_visible()
    assert "// because" in sets.path.read_text()
    dialog.get_by_role("button", name="Save and discard the comments").click()
    expect(dialog).to_be_hidden()
    assert "// because" not in sets.path.read_text()
    assert "// first" in sets.path.read_text()


@pytest.mark.nightly
def test_leaving_asks_and_coming_back_finds_the_draft(page: Page, sets: Sets) -> None:
    page.goto(sets.case("booking"))
    page.get_by_role("textbox", name="App", exact=True).fill("half done")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
    dialog = page.get_by_role("dialog", name="Not saved yet")
    dialog.get_by_role("button", name="Stay").click()
    expect(page.get_by_role("textbox", name="App", exact=True)).to_have_value("half done")
    page.get_by_role("link", name=sets.path.name).click()
    page.get_by_role("dialog").get_by_role("button", name="Leave without saving").click()
    page.get_by_role("link", name="booking").click()
    expect(page.get_by_text("Your earlier unsaved changes are restored")).to_be_visible()
    expect(page.get_by_role("textbox", name="App", exact=True)).to_have_value("half done")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("textbox", name="App", exact=True)).to_have_value("travel")


@pytest.mark.slow
def test_cases_are_added_duplicated_removed_and_brought_back(page: Page, sets: Sets, axe: Look) -> None:
    page.goto(sets.address)
    before = sets.path.read_text()
    page.get_by_role("checkbox").nth(0).check()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove from the file").click()
    expect(page.get_by_text("1 case removed.")).to_be_visible()
    assert [case["eval_id"] for case in sets.cases()] == ["played"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The cases are restored.")).to_be_visible()
    assert sets.path.read_text() == before
    expect(page.get_by_text("2 of 2")).to_be_visible()
    page.get_by_role("checkbox").nth(0).check()
    page.get_by_role("button", name="Duplicate").click()
    expect(page.get_by_role("link", name="booking_copy")).to_be_visible()
    copy = sets.cases()[2]
    assert {**copy, "eval_id": "booking"} == FULL
    page.get_by_role("button", name="New case").click()
    page.get_by_role("dialog").get_by_label("Id", exact=True).fill("fresh")
    page.get_by_role("dialog").get_by_label("First message of the user").fill("Hello")
    axe(page)
    page.get_by_role("dialog").get_by_role("button", name="Add it").last.click()
    expect(page.get_by_role("heading", name="fresh")).to_be_visible()
    assert sets.cases()[3]["conversation"][0]["user_content"]["parts"] == [{"text": "Hello"}]


def test_hostile_text_is_text_in_every_field(page: Page, sets: Sets, shot: Shot) -> None:
    def hostile(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item if key == "eval_id" else hostile(item) for key, item in value.items()}
        return (
            [hostile(item) for item in value]
            if isinstance(value, list)
            else XSS
            if isinstance(value, str)
            else value
        )

    dialogs: list[str] = []
    note_dialogs(page, dialogs)
    case = {**hostile(FULL), "eval_id": XSS, XSS: {XSS: XSS}}
    sets.write(
        case,
        {**hostile(SCENARIO), "conversation_scenario": {"starting_prompt": XSS, "conversation_plan": XSS}},
    )
    page.goto(sets.address)
    expect(page.get_by_role("table", name="Cases")).to_contain_text("<img src=x onerror=alert(1)>")
    page.get_by_role("table", name="Cases").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert(2)</script>")
    expect(page.locator("img, main script, iframe, [onerror]")).to_have_count(0)
    page.get_by_role("textbox", name="App", exact=True).fill("x")
    saved(page)
    assert dialogs == []
    wanted = json.loads(json.dumps(case))
    wanted["session_input"]["app_name"] = "x"
    assert sets.cases()[0] == wanted


@pytest.mark.nightly
@pytest.mark.parametrize("eval_id", ["..", "a/b", "", "%2e%2e", "~x", "a?b#c", "é 😀"])
def test_a_case_of_any_name_is_reached(page: Page, sets: Sets, eval_id: str) -> None:
    sets.write({"eval_id": eval_id, "conversation": [], "tags": ["here"]})
    page.goto(sets.address)
    page.get_by_role("table", name="Cases").get_by_role("link").first.click()
    expect(page.get_by_label("Tags")).to_have_value("here")
    page.reload()
    page.get_by_label("Tags").fill("there")
    saved(page)
    assert sets.cases()[0] == {"eval_id": eval_id, "conversation": [], "tags": ["there"]}


def test_a_set_is_made_from_the_page(page: Page, site: Site, axe: Look) -> None:
    page.goto("/eval-sets")
    page.get_by_role("button", name="New eval set").click()
    page.get_by_label("Name").fill("made_here")
    page.get_by_label("Written as").select_option("yaml")
    axe(page)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("No cases yet")).to_be_visible()
    assert Path(site.folder, "made_here.evalset.yaml").is_file()


@pytest.mark.nightly
def test_keys_alone_do_it(page: Page, sets: Sets) -> None:
    page.goto(sets.address)
    expect(page.get_by_role("table", name="Cases")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="booking")).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="played", exact=True)).to_be_visible()
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="booking")).to_be_visible()
