"""What holds on every screen: fingers, small windows, the keyboard's place, the system's colours, names that read as names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.case.test_case import run_of
from tests.browser.conftest import NARROW, Problems, Site, visit, watch
from tests.browser.waiting import stop_the_clock, strike, too_wide, until

Look = Callable[[Page], None]

# The narrowest window that must do: 1,280 pixels at 400 % (WCAG 1.4.10).
NARROWEST = {"width": 320, "height": 640}

_SCREENS: dict[str, Callable[[Site], str]] = {
    "runs": lambda site: "/runs",
    "a run": lambda site: f"/runs/{run_of(site, 'travel.flawed')}",
    "a case": lambda site: _case(site, "travel.flawed", "two_turn_booking"),
    "its metrics": lambda site: _case(site, "travel.flawed", "two_turn_booking") + "?tab=metrics",
    "an error": lambda site: _case(site, "travel.flawed", "two_turn_flight"),
    "judges of a case": lambda site: _case(site, "city_guide.boastful", "about_bern") + "?tab=judges",
    "bless": lambda site: f"/runs/{run_of(site, 'travel.flawed')}/bless",
    "a comparison": lambda site: f"/compare?{_two(site)}",
    "a case of two runs": lambda site: f"/compare?{_two(site)}&set=bookings&case=two_turn_booking",
    "history": lambda site: "/history?set=bookings",
    "a case's history": lambda site: "/history?set=bookings&case=two_turn_booking",
    "judges": lambda site: "/judges",
    "start": lambda site: "/start",
}
ON_SCREENS = pytest.mark.parametrize("screen", _SCREENS)


def _case(site: Site, agent: str, eval_id: str) -> str:
    run = run_of(site, agent)
    cases = site.get(f"/api/runs/{run}/cases")["items"]
    at = next(one["position"] for one in cases if one["eval_id"] == eval_id)
    return f"/runs/{run}/cases/{at}"


def _two(site: Site) -> str:
    """Return what names the careful build and the flawed one."""
    return f"base={run_of(site, 'travel')}&candidate={run_of(site, 'travel.flawed')}"


def _unfold(page: Page) -> None:
    """Open everything that can be opened, as far as it exists."""
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")


@pytest.fixture
def touched(browser: Browser, site: Site, problems: Problems) -> Iterator[Page]:
    """A page of a phone."""
    context = visit(browser, site.url, viewport=NARROW, has_touch=True, is_mobile=True)
    page = context.new_page()
    watch(page, problems)
    yield page
    context.close()
    assert problems.left() == []


# What can be pressed and is less than 44 pixels high. Left out: links within a sentence, boxes whose label is pressed, and
# points of a chart, each of which is in the table below it as well.
_SMALL = """() => [...document.querySelectorAll('a[href], button, select, input, textarea, summary')]
    .filter((one) => one.checkVisibility() && !one.closest('label, svg') && one.getBoundingClientRect().bottom > 0)
    .filter((one) => getComputedStyle(one).display !== 'inline')
    .filter((one) => one.getBoundingClientRect().height < 43.5)
    .map((one) => `${one.tagName} ${one.textContent.trim().slice(0, 40)} ${one.getBoundingClientRect().height}`)"""


@pytest.mark.slow
class TestEveryScreen:
    @pytest.mark.nightly(check=1)
    @ON_SCREENS
    def test_can_be_used_with_a_finger(self, touched: Page, site: Site, screen: str) -> None:
        touched.goto(_SCREENS[screen](site))
        _unfold(touched)
        assert until(touched, lambda: touched.evaluate(_SMALL), lambda found: found == []) == []

    @pytest.mark.nightly(check=1)
    @ON_SCREENS
    def test_fits_a_window_of_320_pixels_with_all_of_it_open(
        self, page: Page, site: Site, screen: str
    ) -> None:
        page.goto(_SCREENS[screen](site))
        _unfold(page)
        for size in (NARROWEST, {"width": 1280, "height": 860}):
            page.set_viewport_size(size)  # type: ignore[arg-type]  # a dict of numbers is what it takes
            assert too_wide(page) <= 0, f"at {size['width']} pixels"

    @pytest.mark.nightly(check=1)
    @pytest.mark.parametrize("screen", [*_SCREENS, "matrix", "chat", "eval sets", "audits"])
    def test_has_one_key_for_each_action_and_lists_it(self, page: Page, site: Site, screen: str) -> None:
        page.goto(_SCREENS[screen](site) if screen in _SCREENS else _more_screens(site)[screen])
        _unfold(page)
        keys = page.evaluate(_KEYS)
        assert sorted(set(keys)) == sorted(keys)
        page.evaluate("() => document.activeElement?.blur()")
        page.keyboard.press("?")
        listed = page.get_by_role("dialog", name="Keyboard").locator("kbd").all_inner_texts()
        assert {*keys} - {*listed} == set()
        assert ";" in listed


# The keys of the controls that can be pressed, as the help lists them.
_KEYS = """() => [...document.querySelectorAll('[aria-keyshortcuts]:not(:disabled)')].filter((one) => one.checkVisibility())
    .map((one) => one.getAttribute('aria-keyshortcuts').replace('Shift+', ''))"""


def _more_screens(site: Site) -> dict[str, str]:
    matrix = f"/matrix?runs={run_of(site, 'travel')},{run_of(site, 'travel.flawed')}"
    return {"matrix": matrix, "chat": "/chat", "eval sets": "/eval-sets", "audits": "/audits"}


# Texts of a table's cells that are too narrow to be read, and those that reach into the cell next to theirs.
_CRAMPED = """() => [...document.querySelectorAll('[role=cell] :is(span, code)')].filter((one) => one.checkVisibility())
    .map((one) => ({ one, box: one.getBoundingClientRect(), cell: one.closest('[role=cell]').getBoundingClientRect() }))
    .filter(({ one, box, cell }) => box.right > cell.right + 1 || (one.textContent.length > 60 && box.width < 100))
    .map(({ one }) => one.textContent)"""
PAPER = {"width": 718, "height": 1000}  # A4 with the usual margins


class TestOnPaper:
    @pytest.mark.nightly
    @pytest.mark.parametrize("screen", ["runs", "a run", "a comparison", "history"])
    def test_cells_have_room_for_their_text(self, page: Page, site: Site, screen: str) -> None:
        page.set_viewport_size(PAPER)  # type: ignore[arg-type]  # a dict of numbers is what it takes
        page.goto(_SCREENS[screen](site))
        expect(page.get_by_role("cell").first).to_be_visible()
        page.emulate_media(media="print")
        assert until(page, lambda: page.evaluate(_CRAMPED), lambda found: found == []) == []

    def test_a_run_shows_why_its_cases_fail(self, page: Page, site: Site) -> None:
        page.set_viewport_size(PAPER)  # type: ignore[arg-type]  # a dict of numbers is what it takes
        page.goto(_SCREENS["a run"](site))
        page.emulate_media(media="print")
        row = page.get_by_role("row").filter(has_text="two_turn_booking")
        expect(row.get_by_text("was called but not expected").locator("visible=true")).to_have_count(1)


class TestNames:
    @pytest.mark.nightly
    @pytest.mark.parametrize("screen", ["a comparison", "a case of two runs", "history", "a case's history"])
    def test_in_backticks_read_as_names(self, page: Page, site: Site, screen: str) -> None:
        page.goto(_SCREENS[screen](site))
        expect(page.locator("main code").filter(has_text="covers").first).to_be_attached()
        expect(page.locator("main")).not_to_contain_text("`", use_inner_text=True)


class TestTheFocus:
    @pytest.mark.nightly
    def test_goes_from_the_head_of_the_page_into_the_page(self, page: Page) -> None:
        page.goto("/runs")
        page.get_by_role("navigation").get_by_role("link", name="Judges").press("Enter")
        expect(page).to_have_url(re.compile("/judges$"))
        expect(page.locator("#main")).to_be_focused()

    def test_comes_back_to_the_row_that_was_opened(self, page: Page, site: Site) -> None:
        page.goto(f"/runs/{run_of(site, 'travel.flawed')}")
        expect(page.get_by_role("table", name="Cases")).to_be_visible()
        name = page.get_by_role("table", name="Cases").locator("b").nth(1).inner_text()
        strike(page, "jj\n")
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        page.go_back()
        expect(page.locator("[role=row][aria-current] a")).to_be_focused()
        expect(page.locator("[role=row][aria-current] b")).to_have_text(name)


@pytest.mark.nightly
def test_copying_is_confirmed_and_moves_nothing(page: Page, site: Site) -> None:
    page.goto(_SCREENS["a case"](site))
    copy = page.get_by_role("button", name="Copy command")
    expect(copy).to_be_visible()
    stop_the_clock(page)
    before = copy.bounding_box()
    copy.click()
    message = page.get_by_role("button").filter(has_text="Copied")
    expect(message).to_be_visible()
    assert until(page, message.bounding_box, lambda place: place == before) == before


@pytest.mark.nightly
def test_where_the_system_has_the_colours_a_pressed_chip_is_still_seen(page: Page, site: Site) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(_SCREENS["a run"](site))
    chip = page.get_by_role("button", name="Failed or error")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Filter cases").focus()
    outline = "(one) => getComputedStyle(one).outlineStyle"
    assert until(page, lambda: str(chip.evaluate(outline)), lambda style: style == "solid") == "solid"


class TestACaseThatIsFlaky:
    def test_opens_at_the_first_trial_that_shows_why(self, page: Page, site: Site) -> None:
        run = run_of(site, "retail.hasty")
        cases = site.get(f"/api/runs/{run}/cases")["items"]
        at, strip = next((one["position"], one["strip"]) for one in cases if re.match("p+f", one["strip"]))
        page.goto(f"/runs/{run}/cases/{at}")
        shown = page.get_by_role("navigation", name="Trials").locator("[aria-current]")
        expect(shown).to_have_accessible_name(f"trial {strip.index('f') + 1}: failed")
        page.goto(f"/runs/{run}/cases/{at}?trial=1")
        expect(shown).to_have_accessible_name("trial 1: passed")


class TestADefinition:
    @pytest.mark.nightly
    def test_is_shown_with_the_keyboard_and_hidden_with_escape(
        self, page: Page, site: Site, axe: Look
    ) -> None:
        page.goto(_SCREENS["a run"](site))
        page.get_by_role("button", name="pass^4").focus()
        definition = page.get_by_role("tooltip")
        expect(definition).to_contain_text("k trials of the same case all pass")
        axe(page)
        page.keyboard.press("Escape")
        expect(definition).to_have_count(0)

    @pytest.mark.nightly
    def test_is_shown_on_a_tap_within_the_window(self, touched: Page, site: Site) -> None:
        touched.goto(_SCREENS["a run"](site))
        touched.get_by_role("button", name="p95 of turns").tap()
        definition = touched.get_by_role("tooltip")
        expect(definition).to_contain_text("95th percentile")
        place = definition.bounding_box()
        assert place is not None
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= NARROW["width"]
        touched.get_by_role("heading", level=1).tap()
        expect(definition).to_have_count(0)
