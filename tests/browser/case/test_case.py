"""Screen 5, a case: the verdict first, expected next to actual, trials, the way by keys, and text of strangers is never markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import NARROW, Problems, Site, visit, watch
from tests.browser.markup import MARKUP
from tests.browser.waiting import copied, strike, too_wide, until
from tests.web.extreme_runs import big_answer, hostile_case, long_talk, many_trials, write_made

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
Serve = Callable[..., Site]


def run_of(site: Site, agent: str) -> str:
    return next(str(one["run_id"]) for one in site.get("/api/runs")["items"] if one["agent"] == agent)


def open_case(
    page: Page, site: Site, agent: str = "travel.flawed", position: int = 0, query: str = ""
) -> str:
    """Open a case of the latest run of an agent; return its path."""
    path = f"/runs/{run_of(site, agent)}/cases/{position}"
    page.goto(f"{path}{query}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    return path


# --- what it shows -----------------------------------------------------------------------------------------------------


def test_the_verdict_comes_first_and_the_reason_with_it(page: Page, site: Site, shot: Shot) -> None:
    open_case(page, site, query="?trial=4")
    expect(page.get_by_role("heading", level=1)).to_have_text("two_turn_booking")
    head = page.locator("main header")
    expect(head).to_contain_text("Failed")
    expect(head).to_contain_text("0 of 5 trials passed (0 %, 95 % CI: 0–43)")
    expect(head).to_contain_text("turn 2: book_table argument covers is 4, expected 2")
    expect(head).to_contain_text("trial 4 of 5")
    shot(page, "case")


def test_expected_is_left_and_actual_right_and_only_differences_are_marked(page: Page, site: Site) -> None:
    open_case(page, site)
    turn = page.get_by_role("region", name="Turn 2")
    rows = turn.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("find_restaurant")
    differing = turn.locator('[data-kind="differs"]')
    expect(differing.locator("del")).to_have_text("2")
    expect(differing.locator("ins")).to_have_text("4")
    extra = turn.locator('[data-kind="extra"]')
    expect(extra).to_contain_text("send_sms")
    expect(extra).to_contain_text("not expected")
    expect(turn.locator("del")).to_have_text(["2", "2"])  # of the call, and of the final response
    expect(turn.locator("ins")).to_have_text(["4", "4"])
    left, right = (differing.get_by_role("cell").nth(n) for n in (0, 2))
    assert until(page, lambda: _end(left, "x", "width") <= _place(right)["x"], bool)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
    assert until(page, lambda: _end(left, "y", "height") <= _place(right)["y"] + 1, bool)


def test_turns_as_expected_are_folded_and_one_key_opens_all(page: Page, site: Site) -> None:
    open_case(page, site)
    first, second = (page.get_by_role("button", name=re.compile(rf"Turn {number}")) for number in (1, 2))
    expect(first).to_contain_text("as expected")
    expect(second).to_contain_text("not as expected")
    for shown in ("false", "true", "false"):
        expect(first).to_have_attribute("aria-expanded", shown)
        expect(second).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("o")
    second.click()
    expect(page.get_by_role("region", name="Turn 2")).to_have_count(0)


def test_the_expected_and_the_actual_response_are_side_by_side(page: Page, site: Site) -> None:
    open_case(page, site)
    turn = page.get_by_role("region", name="Turn 2")
    left, right = (turn.get_by_role("group", name=f"{side} response") for side in ("expected", "actual"))
    expect(left.locator("del")).to_have_text("2")
    expect(right.locator("ins")).to_have_text("4")
    assert until(page, lambda: _end(left, "x", "width") <= _place(right)["x"] + 1, bool)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
    assert until(page, lambda: _end(left, "y", "height") <= _place(right)["y"] + 1, bool)


def _place(one: Locator) -> dict[str, float]:
    found = one.bounding_box()
    assert found is not None
    return dict(found)  # type: ignore[arg-type]  # a dict of numbers is what it is


def _end(one: Locator, at: str, size: str) -> float:
    place = _place(one)
    return place[at] + place[size]


@pytest.mark.nightly
def test_the_state_is_reported_where_it_is_not_as_stated(page: Page, site: Site, shot: Shot) -> None:
    open_case(page, site)
    state = page.get_by_role("region", name="Final state")
    expect(state).to_contain_text("table.covers: 2")
    expect(state).to_contain_text("table.covers: 4")
    page.get_by_role("tab", name=re.compile("State")).click()
    expect(page).to_have_url(re.compile(r"tab=state"))
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("asked:")
    shot(page, "case-state")


def test_the_tool_flow_has_a_lane_for_what_was_expected_and_one_for_what_was_done(
    page: Page, site: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    open_case(page, site, query="?tab=tools")
    turn = page.get_by_role("region", name="Tool calls of turn 2")
    expect(turn).to_contain_text("1 as expected, 1 other arguments, 1 not expected")
    expected, actual = (turn.get_by_role("list", name=f"{side} calls") for side in ("expected", "actual"))
    expect(expected.get_by_role("link")).to_have_text(
        [re.compile("find_restaurant"), re.compile("book_table")]
    )
    expect(actual.get_by_role("link").nth(2)).to_contain_text("send_sms")
    expect(turn.locator("path")).to_have_count(2)
    page.get_by_role("button", name="Copy the calls").click()
    assert "| not expected |" in copied(page, "| Turn |")
    axe(page)
    fits(page)
    shot(page, "case-tools")
    actual.get_by_role("link").nth(1).click()
    expect(page.locator("#turn-2-step-2")).to_have_attribute("data-on", "true")


@pytest.mark.nightly
def test_a_passed_trial_shows_its_whole_alignment(page: Page, site: Site) -> None:
    open_case(page, site, "travel")
    turn = page.get_by_role("region", name="Turn 2")
    expect(turn.locator('[data-kind="same"]')).to_have_count(2)
    expect(turn).to_contain_text("final response, as expected")
    expect(turn).to_contain_text("tool_trajectory 1.00 ≥ 1")


def test_an_error_shows_where_and_has_its_traceback(page: Page, site: Site, shot: Shot) -> None:
    open_case(page, site, "greeter", 2)
    turn = page.get_by_role("region", name="Turn 1")
    expect(turn).to_contain_text("RuntimeError: the kitchen is closed: no answer to 'please break'")
    expect(turn).to_contain_text("at greeter.py:13 in root_agent")
    turn.get_by_text("Traceback", exact=True).click()
    expect(turn).to_contain_text("Traceback (most recent call last)")
    shot(page, "case-error")


@pytest.mark.nightly
def test_the_metrics_of_all_trials_are_side_by_side(page: Page, site: Site, axe: Look) -> None:
    open_case(page, site, "greeter", 1, "?tab=metrics")
    row = page.get_by_role("row", name=re.compile("response_match"))
    expect(row).to_contain_text("0.50 < 0.8")
    expect(row).to_contain_text("1.00")
    is_line = "(one) => one.offsetHeight < 1.5 * parseFloat(getComputedStyle(one).lineHeight)"
    assert row.get_by_text("0.50 < 0.8").evaluate(is_line)
    expect(row.get_by_role("img")).to_have_count(1)
    axe(page)


@pytest.mark.nightly
def test_a_played_conversation_shows_the_plan_and_has_no_empty_column(page: Page, site: Site) -> None:
    open_case(page, site, "retail.hasty")
    page.locator("summary").filter(has_text="Simulated user: customer").click()
    expect(page.locator("dl")).to_contain_text("plan")
    expect(page.get_by_role("region", name="Turn 2").get_by_role("columnheader")).to_have_count(0)


# --- the way ------------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_trials_are_a_strip_to_walk_along(page: Page, site: Site) -> None:
    path = open_case(page, site, "greeter", 1)
    reported = site.get(f"/api{path}")["trials"]
    answers = {"passed": "Hello, and welcome!", "failed": "Go away."}
    trials = page.get_by_role("navigation", name="Trials").get_by_role("button")
    wanted = [["●" if one["outcome"] == "passed" else "○", str(one["number"] + 1)] for one in reported]
    signs = until(
        page, lambda: [one.split() for one in trials.all_inner_texts()], lambda read: read == wanted
    )
    assert signs == wanted
    trials.nth(3).click()
    expect(page).to_have_url(re.compile(rf"{path}\?trial=4$"))
    expect(page.get_by_role("region", name="Turn 1")).to_contain_text(answers[reported[3]["outcome"]])
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile("trial=3"))
    expect(page.get_by_role("region", name="Turn 1")).to_contain_text(answers[reported[2]["outcome"]])
    strike(page, "]]")
    expect(page).to_have_url(re.compile("trial=4"))
    strike(page, "[")
    strike(page, "[")
    expect(page).to_have_url(re.compile("trial=2"))


@pytest.mark.nightly
def test_n_goes_from_difference_to_difference(page: Page, site: Site) -> None:
    open_case(page, site)
    expect(page.get_by_role("region", name="Turn 2")).to_be_visible()
    for expected in (r"turn=2&step=2", r"turn=2&step=3", r"tab=state", r"turn=2&step=2"):
        page.keyboard.press("n")
        expect(page).to_have_url(re.compile(expected))
    expect(page.locator("#turn-2-step-2")).to_have_attribute("data-on", "true")
    page.keyboard.press("N")
    expect(page).to_have_url(re.compile("tab=state"))


@pytest.mark.nightly
def test_a_link_goes_to_a_step_and_survives_a_reload(page: Page, site: Site) -> None:
    open_case(page, site, query="?trial=3&turn=2&step=3")
    for _ in range(2):
        step = page.locator("#turn-2-step-3")
        expect(step).to_be_in_viewport()
        expect(step).to_have_attribute("data-on", "true")
        expect(page.locator("main header")).to_contain_text("trial 3 of 5")
        page.reload()


def test_keys_go_to_the_next_case_and_up_to_the_run(page: Page, site: Site) -> None:
    path = open_case(page, site)
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("table_in_one_go")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text("two_turn_booking")
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(re.escape(path.partition("/cases")[0]) + "$"))


@pytest.mark.nightly
def test_the_next_case_is_that_of_the_table_from_which_it_was_opened(page: Page, site: Site) -> None:
    run = run_of(site, "travel.flawed")
    page.goto(f"/runs/{run}?q=outcome:failed&sort=-case")
    table = page.get_by_role("table", name="Cases").get_by_role("link")
    expect(table.first).to_be_visible()
    names = table.all_inner_texts()
    table.first.click()
    main = page.locator("main header")
    for place, name in enumerate(names, 1):
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(main).to_contain_text(f"{place} of {len(names)} failures")
        page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text(names[-1])
    page.reload()
    expect(main).to_contain_text(f"{len(names)} of {len(names)} failures")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text(names[-2])
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(r"\?q=outcome%3Afailed&sort=-case$"))


@pytest.mark.nightly
def test_a_wide_page_lists_the_cases_of_the_table_at_the_side(
    page: Page, site: Site, axe: Look, shot: Shot
) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    run = run_of(site, "travel.flawed")
    page.goto(f"/runs/{run}?q=outcome:failed&sort=-case")
    table = page.get_by_role("table", name="Cases").get_by_role("link")
    expect(table.first).to_be_visible()
    names = table.all_inner_texts()
    table.first.click()
    at_side = page.get_by_role("navigation", name="Cases of the table")
    expect(at_side.get_by_role("link")).to_have_text([re.compile(f"{name}.*failed") for name in names])
    expect(at_side.locator('[aria-current="page"]')).to_contain_text(names[0])
    page.keyboard.press("j")
    expect(at_side.locator('[aria-current="page"]')).to_contain_text(names[1])
    axe(page)
    assert too_wide(page) <= 0
    at_side.get_by_role("link").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(names[-1])
    expect(page).to_have_url(re.compile(r"\?q=outcome%3Afailed&sort=-case$"))
    page.set_viewport_size({"width": 1399, "height": 900})
    expect(at_side).to_have_count(0)
    shot(page, "case-list")


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("path", "last"),
    [
        pytest.param("", "Manage …", id="run"),
        pytest.param("/cases/0", "Run this case", id="case"),
    ],
)
def test_every_action_at_the_head_has_a_key_that_the_help_lists(
    page: Page, site: Site, path: str, last: str
) -> None:
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}{path}")
    head = page.locator("main header")
    expect(head.get_by_role("button", name=last)).to_be_visible()
    controls = head.locator("[class*=button]")
    without = controls.and_(page.locator(":not([aria-keyshortcuts])"))
    expect(without.filter(has_not_text=re.compile("Manage|difference"))).to_have_count(0)
    keys = controls.and_(page.locator("[aria-keyshortcuts]")).evaluate_all(
        "(all) => all.map((one) => one.getAttribute('aria-keyshortcuts').replace('Shift+', ''))"
    )
    page.keyboard.press("?")
    listed = page.get_by_role("dialog", name="Keyboard").locator("dt").all_inner_texts()
    assert len(listed) == len(set(listed))
    assert set(keys) <= set(listed)


@pytest.mark.nightly
def test_the_case_is_copied_as_markdown(page: Page, site: Site) -> None:
    open_case(page, site)
    expect(page.get_by_role("region", name="Turn 2")).to_be_visible()
    page.get_by_role("button", name="Copy as Markdown").click()
    text = copied(page, "### two\\_turn\\_booking: failed")
    assert text.startswith("###")
    assert '- ≠ expected `book_table(restaurant="La Trattoria", covers=2, time="19:00")`' in text
    assert '- + `send_sms(text="See you at La Trattoria!")`' in text
    assert "proctor show" in text


def test_what_is_not_there_is_reported(page: Page, site: Site, problems: Problems) -> None:
    problems.expect("404")
    page.goto(f"/runs/{run_of(site, 'travel')}/cases/99")
    expect(page.get_by_role("heading", name="Case not found")).to_be_visible()
    page.goto("/runs/nothing/cases/0")
    expect(page.get_by_role("heading", name="Case not found")).to_be_visible()


@pytest.mark.nightly
def test_everybody_can_use_it(page: Page, site: Site, axe: Look, fits: Look) -> None:
    for agent, position, turn in (("travel.flawed", 0, "Turn 2"), ("greeter", 2, "Turn 1")):
        open_case(page, site, agent, position)
        expect(page.get_by_role("region", name=turn)).to_be_visible()
        axe(page)
        fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)


# --- enormous, and hostile ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Site:
    """A server over cases that no command makes in a second."""
    folder = tmp_path_factory.mktemp("made")
    write_made(folder / "store.sqlite3", [long_talk(1000), big_answer(10_000_000), many_trials(100)])
    write_made(folder / "store.sqlite3", [hostile_case(_turned(at)) for at in _AT], run_id="hostile")
    return serve(folder, folder / "store.sqlite3")


_AT = range(0, len(MARKUP), 30)


def _turned(at: int) -> list[str]:
    """All texts, beginning with another one: the first is in the ids, too."""
    return [*MARKUP[at:], *MARKUP[:at]]


@pytest.fixture
def made_page(browser: Browser, made: Site, problems: Problems) -> Any:
    context = visit(browser, made.url)
    page = context.new_page()
    watch(page, problems)
    yield page
    context.close()
    assert problems.left() == []


@pytest.mark.nightly
@pytest.mark.slow
def test_a_thousand_turns_are_one_line_each_but_where_something_differs(made_page: Page, shot: Shot) -> None:
    made_page.goto("/runs/made/cases/0")
    expect(made_page.get_by_role("region", name="Turn 700")).to_contain_text("none")
    expect(made_page.get_by_text("1,000 turns; 999 as expected and collapsed")).to_be_visible()
    made_page.keyboard.press("n")
    expect(made_page.locator("#turn-700-step-1")).to_be_in_viewport()
    made_page.locator("#turn-2 button").first.press("Enter")
    expect(made_page.get_by_role("region", name="Turn 2", exact=True)).to_contain_text("question 2")
    shot(made_page, "case-long")


@pytest.mark.nightly
@pytest.mark.slow
def test_ten_megabytes_are_reported_as_there_and_can_be_saved(made_page: Page) -> None:
    made_page.goto("/runs/made/cases/1")
    turn = made_page.get_by_role("region", name="Turn 1")
    expect(turn).to_contain_text("more characters")
    turn.get_by_text(re.compile(r"10,000,012 characters")).click()
    assert len(made_page.content()) < 1_000_000
    with made_page.expect_download() as saved:
        made_page.get_by_role("button", name="Save the whole evidence").click()
    assert Path(saved.value.path()).stat().st_size > 20_000_000


@pytest.mark.nightly
def test_a_hundred_trials_stay_a_strip(made_page: Page, fits: Look, shot: Shot) -> None:
    made_page.goto("/runs/made/cases/2?trial=100")
    trials = made_page.get_by_role("navigation", name="Trials").get_by_role("button")
    expect(trials).to_have_count(100)
    expect(trials.nth(99)).to_have_attribute("aria-current", "true")
    fits(made_page)
    shot(made_page, "case-trials")


_SHOWN = {"conversation": "thinks", "state": "k", "metrics": "reason", "spans": "turn 1", "judges": "because"}
"""What a tab shows when it is there."""


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("tab", _SHOWN)
@pytest.mark.parametrize("position", range(len(_AT)))
def test_text_of_a_stranger_is_never_markup(made_page: Page, position: int, tab: str) -> None:
    owned: list[str] = []
    made_page.expose_function("owned", lambda: owned.append("owned"))
    made_page.on("dialog", lambda dialog: owned.append(dialog.message))
    made_page.goto(f"/runs/hostile/cases/{position}?tab={tab}")
    text = _turned(_AT[position])[0]
    expect(made_page.get_by_role("heading", level=1)).to_have_text(
        re.compile(re.escape(_seen("c" + text))[:40])
    )
    expect(made_page.get_by_role("tabpanel")).to_contain_text(_SHOWN[tab])
    if tab in ("conversation", "judges"):
        assert until(made_page, lambda: _lost(made_page), lambda lost: not lost) == []
    made_page.wait_for_timeout(200)
    assert owned == []
    here = made_page.locator(
        "main script, main img, main iframe, main object, main embed, main form, main svg, main math"
    )
    expect(here).to_have_count(0)
    links = made_page.locator("main a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert all(str(link).startswith(("/runs/", "/compare", "/history")) for link in links)


def _lost(page: Page) -> list[str]:
    shown = page.get_by_role("tabpanel").text_content() or ""
    return [one for one in MARKUP if _seen(one) not in shown]


def _seen(text: str) -> str:
    """A text as the page makes what is unsafe in it visible; a store holds no NUL in a score."""
    escapes = {"\x0c": "\\x0c", "\u202e": "\\u202e", "\u2028": "\\u2028", "\u2029": "\\u2029", "\0": "\\x00"}
    return "".join(escapes.get(one, one) for one in text)
