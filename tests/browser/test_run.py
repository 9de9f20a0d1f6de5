"""Screens 2 and 3, a run and its cases: read, filtered, moved through by keys; live while it is under way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import NARROW, WIDE, Problems, Site, visit, watch
from tests.browser.waiting import PATIENCE, copied, strike, until
from tests.web.live_project import make_project, open_gate

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]


def _run_of(site: Site, agent: str) -> dict[str, Any]:
    found = [run for run in site.get("/api/runs")["items"] if run["agent"] == agent]
    newest: dict[str, Any] = found[0]
    return newest


def _open(page: Page, site: Site, agent: str, query: str = "") -> dict[str, Any]:
    run = _run_of(site, agent)
    page.goto(f"/runs/{run['run_id']}{query}")
    expect(page.get_by_role("table", name="Cases")).to_be_visible()
    return run


@pytest.mark.nightly
def test_the_pictures_wait_for_the_figures_of_the_run(page: Page, site: Site) -> None:
    """Before, the first picture that needs no figure was shown, and replaced at once."""
    held: list[Route] = []
    page.route(re.compile(r"/api/runs/\w+$"), lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    _open(page, site, "travel.flawed")
    expect(page.get_by_role("link", name="two_turn_booking").first).to_be_visible()
    until(page, lambda: len(held), lambda count: count > 0)
    expect(page.get_by_role("tab")).to_have_count(0)
    held[0].continue_()
    expect(page.get_by_role("tab", name="Metrics", selected=True)).to_be_visible()


def _cases(page: Page) -> Locator:
    return page.get_by_role("table", name="Cases").locator("b")


def _current(page: Page) -> Locator:
    return page.locator("[role=row][aria-current] b")


_EVERY_CASE = re.compile(r"/api/runs/[^/?]+/cases(\?(?!.*brief)|$)")


class TestARunThatIsOver:
    def test_shows_the_verdict_first_and_the_reason_in_the_row(
        self, page: Page, site: Site, shot: Shot
    ) -> None:
        _open(page, site, "travel.flawed")
        main = page.locator("main")
        expect(main).to_contain_text("6 of 8 cases fail, 1 could not be scored.")
        expect(main).to_contain_text(re.compile(r"Cases passed, 1 of 8\s*95 % CI: 2–47"))
        row = page.get_by_role("table", name="Cases").get_by_role("row").filter(has_text="two_turn_booking")
        expect(row).to_contain_text("covers is 4, expected 2")
        expect(row.get_by_role("img", name="5 failed")).to_be_visible()
        shot(page, "run")

    @pytest.mark.nightly
    def test_counts_the_calls_of_each_tool(self, page: Page, site: Site, axe: Look, shot: Shot) -> None:
        _open(page, site, "travel.flawed", "?show=tools")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="send_sms"))
        expect(row).to_contain_text("none")
        axe(page)
        shot(page, "run-tools")
        row.get_by_role("button").click()
        expect(page).to_have_url(re.compile("q=tool%3Asend_sms"))
        expect(_cases(page).first).to_be_visible()

    def test_has_what_failed_first(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        expect(_cases(page).nth(7)).to_have_text("no_such_restaurant")
        expect(_cases(page).nth(6)).to_have_text("two_turn_flight")  # an error comes after the failures

    @pytest.mark.nightly
    def test_is_usable_by_all_and_fits(self, page: Page, site: Site, axe: Look, fits: Look) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_text("Criteria, judges and manifest").click()
        axe(page)
        fits(page)
        page.emulate_media(color_scheme="dark")
        axe(page)

    def test_pictures_lead_to_the_cases_and_the_trials(
        self, page: Page, site: Site, axe: Look, fits: Look, shot: Shot
    ) -> None:
        run = _open(page, site, "travel.flawed")
        pictures = page.get_by_role("region", name="Pictures")
        trajectory = pictures.get_by_role("row").filter(has_text="tool_trajectory")
        expect(trajectory).to_contain_text("5 of 7, 1 in error")
        trajectory.get_by_role("button", name="Show 0.5 to 0.6: 1 case, which missed").click()
        expect(_cases(page)).to_have_text(["two_turn_booking"])
        pictures.get_by_role("tab", name="Latency and tokens").click()
        expect(pictures.get_by_role("row").filter(has_text="Mean duration of a turn")).to_contain_text("ms")
        expect(pictures.get_by_role("columnheader", name="p95 of cases")).to_be_visible()
        axe(page)
        pictures.get_by_role("tab", name="Trials").click()
        axe(page)
        fits(page)
        shot(page, "pictures")
        pictures.get_by_role("link", name="Trial 3 of two_turn_booking: failed").click()
        page.wait_for_url(
            f"**/runs/{run['run_id']}/cases/*q=tool_trajectory*trial=3"
        )  # `next` follows the filter

    def test_each_cause_of_failures_is_named_once_and_leads_to_its_cases(
        self, page: Page, site: Site, axe: Look
    ) -> None:
        run = _open(page, site, "travel.flawed", "?show=causes")
        cause = site.get(f"/api/runs/{run['run_id']}")["causes"][0]
        page.get_by_role("region", name="Pictures").get_by_role("row").nth(1).get_by_role("button").click()
        expect(_cases(page)).to_have_count(cause["cases"])
        expect(page.get_by_label("Filter cases")).to_have_value(f'cause:"{cause["text"]}"')
        axe(page)

    @pytest.mark.nightly
    def test_the_table_stays_in_its_place_while_all_cases_are_read(self, page: Page, site: Site) -> None:
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route(re.compile(r"/api/runs/[^/]+/cases(\?(?!.*brief)|$)"), hold)
        _open(page, site, "travel.flawed")
        until(page, lambda: len(held), lambda found: found > 0)
        expect(page.get_by_role("tab", name="Metrics")).to_be_visible()  # the figures of the run are there
        table = page.get_by_role("table", name="Cases")
        before = table.bounding_box()
        held[0].continue_()
        expect(page.get_by_role("tab", name="Latency and tokens")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert table.bounding_box() == before

    @pytest.mark.nightly
    def test_the_columns_of_the_table_can_be_chosen(self, page: Page, site: Site, axe: Look) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_text("Columns", exact=True).click()
        axe(page)
        page.get_by_role("checkbox", name="invocation_duration").check()
        page.get_by_role("checkbox", name="final_session_state").uncheck()
        page.keyboard.press("Escape")
        heads = page.get_by_role("table", name="Cases").get_by_role("columnheader")
        expect(heads.filter(has_text="invocation_duration")).to_be_visible()
        expect(heads.filter(has_text="final_session_state")).to_have_count(0)
        assert "cols=" in page.url

    def test_a_window_of_medium_width_names_the_metrics_without_room(self, page: Page, site: Site) -> None:
        _open(page, site, "retail.hasty")
        chooser = page.locator("summary").filter(has_text="Columns")
        expect(chooser).to_have_text("Columns", use_inner_text=True)
        hidden = page.get_by_role("table", name="Cases").locator("[role=columnheader][data-wide]")
        expect(hidden).to_have_count(2)
        page.set_viewport_size({"width": 1000, "height": 860})
        expect(hidden.first).to_be_hidden()
        expect(chooser).to_have_text(re.compile(r"^2 more metrics –\s*Columns$"), use_inner_text=True)
        chooser.click()
        expect(page.get_by_text(", 2 in a window of this width")).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(chooser).to_have_text(re.compile(r"^4 more metrics –\s*Columns$"), use_inner_text=True)
        expect(page.get_by_text(", none in a window of this width")).to_be_visible()
        assert page.locator("[class*=undefined]").count() == 0

    def test_shows_by_what_it_was_judged_and_what_was_run(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_text("Criteria, judges and manifest").click()
        expect(page.locator("main")).to_contain_text("tool_trajectory_avg_score")
        expect(page.locator("main")).to_contain_text("examples/travel/flawed.py")

    def test_at_390_pixels_reads_as_a_list(self, page: Page, site: Site, shot: Shot) -> None:
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
        _open(page, site, "travel.flawed")
        row = page.get_by_role("table", name="Cases").get_by_role("row").filter(has_text="two_turn_booking")
        expect(row.get_by_text("expected 2").first).to_be_visible()
        expect(page.get_by_role("columnheader", name="Why")).to_be_hidden()
        text = page.locator("main header").inner_text()
        assert text.index("6 of 8 cases fail") < text.index("Run again"), (
            "the verdict comes before the buttons"
        )
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # a dict of numbers is what it takes

    def test_the_run_before_is_a_link_and_a_comparison(self, page: Page, site: Site) -> None:
        run = _open(page, site, "travel")
        against = site.get(f"/api/runs/{run['run_id']}")["against"]
        expect(page.get_by_role("link", name=against["short"])).to_have_attribute(
            "href", f"/runs/{against['run_id']}"
        )
        page.get_by_role("link", name="Compare").last.click()
        expect(page).to_have_url(re.compile(f"base={against['run_id']}&candidate={run['run_id']}"))

    def test_its_buttons_stay_in_their_place_while_all_cases_are_read(self, page: Page, site: Site) -> None:
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route(re.compile(r"/api/runs/[^/?]+(/cases)?(\?(?!.*brief)|$)"), hold)
        _open(page, site, "travel")
        until(page, lambda: len(held), lambda found: found == 2)
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_disabled()
        head = page.locator("header", has=page.get_by_role("heading", level=1))
        actions = head.get_by_role("button").or_(head.get_by_role("link", name="Compare"))
        expect(actions.filter(has_text="Manage …")).to_be_visible()
        before = [(one.inner_text(), one.bounding_box()) for one in actions.all()]
        for route in held:
            route.continue_()
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_enabled()
        expect(head).to_contain_text("No case changed since")
        assert [(one.inner_text(), one.bounding_box()) for one in actions.all()] == before

    def test_a_filter_waits_for_the_changes_of_the_cases(self, page: Page, site: Site) -> None:
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route(_EVERY_CASE, hold)
        page.goto(f"/runs/{_run_of(site, 'travel')['run_id']}?q=new")
        until(page, lambda: len(held), lambda found: found == 1)
        expect(page.get_by_text("reading …")).to_be_visible()
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_disabled()
        held[0].continue_()
        expect(page.get_by_text("Nothing matches the filter.")).to_be_visible()
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_enabled()

    def test_the_first_rows_stay_if_the_others_cannot_be_read(
        self, page: Page, site: Site, problems: Problems
    ) -> None:
        problems.expect("403")
        page.route(_EVERY_CASE, lambda route: route.fulfill(status=403, json={"detail": "The disk is gone."}))
        _open(page, site, "travel")
        failure = page.get_by_role("alert").filter(has_text="The disk is gone.")
        expect(failure).to_contain_text("The table has only the first 8 cases.")
        expect(_cases(page)).to_have_count(8)
        page.unroute(_EVERY_CASE)
        failure.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_enabled()
        expect(failure).to_be_hidden()

    def test_buttons_that_cannot_be_used_have_their_reason(
        self, page: Page, site: Site, problems: Problems
    ) -> None:
        problems.expect("403")
        page.route(
            re.compile("/management$"), lambda route: route.fulfill(status=403, json={"detail": "No."})
        )
        _open(page, site, "travel")
        expect(page.get_by_role("alert").filter(has_text="No.")).to_be_visible()
        page.unroute(re.compile("/management$"))
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("button", name="Star")).to_be_enabled()

    def test_the_browser_reads_its_first_rows_once_while_it_loads_the_script(
        self, page: Page, site: Site
    ) -> None:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        _open(page, site, "travel")
        first = [url for url in requests if "brief=true" in url]
        script = next(index for index, url in enumerate(requests) if url.endswith(".js"))
        assert len(first) == 2
        assert all(requests.index(url) < script for url in first)

    def test_markup_in_ids_and_answers_is_text(self, page: Page, site: Site) -> None:
        _open(page, site, "greeter")
        expect(_cases(page).get_by_text("<script>alert(1)</script>", exact=True)).to_be_visible()

    def test_is_copied_as_markdown(self, page: Page, site: Site) -> None:
        _open(page, site, "greeter")
        page.get_by_role("button", name="Copy as Markdown").click()
        assert "| `greetings/moody` | failed |" in copied(page, "**greeter on greetings")

    @pytest.mark.nightly
    def test_is_copied_as_the_table_shows_it(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed", "?q=outcome:failed&sort=-case")
        expect(_cases(page).first).to_be_visible()
        shown = _cases(page).all_inner_texts()
        page.get_by_role("button", name="Copy as Markdown").click()
        rows = [line for line in copied(page, "**travel").splitlines() if line.startswith("| `")]
        assert [row.split("`")[1].removeprefix("bookings/") for row in rows] == shown
        assert "\\`" not in "".join(rows)

    @pytest.mark.nightly
    def test_that_does_not_exist_is_reported(self, page: Page, problems: Problems) -> None:
        problems.expect("404")
        page.goto("/runs/unknown")
        expect(page.get_by_role("main")).to_contain_text("No run named 'unknown'")
        page.get_by_role("link", name="All runs").click()
        expect(page).to_have_url(re.compile("/runs$"))


FILTERS = [
    ("outcome:error", ["two_turn_flight"]),
    ('"expected 2"', ["two_turn_booking"]),
    ("outcome:passed or outcome:error", ["two_turn_flight", "no_such_restaurant"]),
    ("trajectory>=1 outcome:failed", ["cancel_the_table"]),
]


class TestFiltering:
    @pytest.mark.nightly(check=1)
    @pytest.mark.parametrize(("text", "left"), FILTERS, ids=[text for text, _ in FILTERS])
    def test_finds_what_was_asked_for_and_the_address_keeps_it(
        self, page: Page, site: Site, text: str, left: list[str]
    ) -> None:
        _open(page, site, "travel.flawed")
        page.keyboard.press("/")
        page.keyboard.type(text)
        for _ in range(2):
            expect(page).to_have_url(re.compile(re.escape(f"?{urlencode({'q': text})}") + "$"))
            expect(page.get_by_role("search").get_by_role("status")).to_have_text(f"{len(left)} of 8")
            expect(_cases(page)).to_have_text(left)
            page.reload()

    @pytest.mark.nightly
    @pytest.mark.nightly(check=1)
    @pytest.mark.parametrize(
        ("query", "held_request", "found"),
        [
            pytest.param(
                "q=case:opening", r"/cases$", "1 of 8", id="a filter of cases that are not read yet"
            ),
            pytest.param("sort=-case", r"/cases$", "8 of 8", id="an order of cases that are not read yet"),
            pytest.param("q=tool:book_table", "/case-extras", "3 of 8", id="tools"),
            pytest.param("q=said:Trattoria", "/texts", "2 of 8", id="words of messages"),
        ],
    )
    def test_shows_nothing_until_it_is_read(
        self, page: Page, site: Site, query: str, held_request: str, found: str
    ) -> None:
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route(re.compile(held_request), hold)
        page.route(
            re.compile("brief=true"), lambda route: route.continue_(url=f"{route.request.url}&limit=2")
        )
        page.goto(f"/runs/{_run_of(site, 'travel.flawed')['run_id']}?{query}")
        until(page, lambda: len(held), lambda requests: requests > 0)
        cases = page.get_by_role("region", name="Cases")
        expect(cases.get_by_role("search")).to_contain_text("reading …")
        expect(cases.get_by_role("heading")).to_have_count(
            1
        )  # no table, and no word of cases that do not match
        held[0].continue_()
        expect(cases.get_by_text(found, exact=True)).to_be_visible()

    def test_shows_what_it_cannot_read_and_shows_all(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed", "?q=outcom:failed")
        expect(page.get_by_role("alert").filter(has_text="did you mean outcome?").first).to_be_visible()
        expect(_cases(page)).to_have_count(8)

    def test_reports_that_the_messages_were_not_searched(
        self, page: Page, site: Site, problems: Problems
    ) -> None:
        problems.expect("422")
        _open(page, site, "travel.flawed", f"?{urlencode({'q': f'said:{501 * chr(97)}'})}")
        failure = page.get_by_role("alert").filter(has_text="the messages were not searched")
        expect(failure).to_contain_text("All cases are shown.")

    def test_offers_what_a_word_may_become(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_label("Filter cases").fill("outcome:e")
        page.get_by_role("button", name="outcome:error", exact=True).click()
        expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 8")

    @pytest.mark.nightly
    def test_that_leaves_nothing_offers_all(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed", "?q=outcome:failed")
        page.goto(page.url.replace("failed", "skipped"))
        page.get_by_role("button", name="Show all cases").click()
        expect(page.get_by_role("search").get_by_role("status")).to_have_text("8 of 8")

    @pytest.mark.nightly
    def test_sorts_by_a_column_and_back(self, page: Page, site: Site) -> None:
        run = _open(page, site, "travel.flawed")
        page.get_by_role("button", name="Case", exact=True).click()
        expect(_cases(page)).to_have_text(sorted(_positions(site, run)))
        expect(page).to_have_url(re.compile("sort=case"))
        page.get_by_role("button", name="Worst first").click()
        expect(_cases(page).nth(7)).to_have_text("no_such_restaurant")


class TestKeys:
    def test_move_stop_at_rows_that_need_attention_and_open(self, page: Page, site: Site) -> None:
        run = _open(page, site, "travel.flawed", "?sort=case")
        cases = sorted(_positions(site, run))
        for key, at in (("j", 0), ("n", 1), ("n", 2), ("n", 4), ("k", 3), ("j", 4)):  # the one at 3 passed
            page.keyboard.press(key)
            expect(_current(page)).to_have_text(cases[at])
        page.keyboard.press("Enter")
        expect(page).to_have_url(_of(run, _positions(site, run)[cases[4]]))

    @pytest.mark.nightly
    @pytest.mark.parametrize(
        ("keys", "at"), [("jnkj\n", 1), ("nnnn\n", 4), ("jjjjjk\n", 3), ("jjjjjjjjjjjjkkn\n", 6)]
    )
    def test_open_the_row_that_they_mean_however_fast_they_come(
        self, page: Page, site: Site, keys: str, at: int
    ) -> None:
        run = _open(page, site, "travel.flawed", "?sort=case")
        strike(page, keys)
        positions = _positions(site, run)
        expect(page).to_have_url(_of(run, positions[sorted(positions)[at]]))

    @pytest.mark.nightly
    def test_come_faster_than_a_row_far_below_is_drawn(
        self, page: Page, serve: Callable[..., Site], tmp_path: Path
    ) -> None:
        cases = [{"eval_id": f"case {number}", "conversation": []} for number in range(400)]
        document = {"eval_set_id": "many", "eval_cases": cases}
        (tmp_path / "many.evalset.json").write_text(json.dumps(document), encoding="utf-8")
        many = serve(tmp_path, tmp_path / "store.sqlite3")
        page.goto(f"{many.url}/eval-sets/{many.get('/api/eval-sets')['items'][0]['id']}")
        expect(page.get_by_role("table", name="Cases")).to_be_visible()
        strike(page, "j" * 200 + "xjx")
        expect(_current(page)).to_have_text("case 200")
        expect(page.get_by_role("link", name="case 200", exact=True)).to_be_focused()
        expect(page.get_by_role("button", name="Duplicate")).to_be_visible()
        expect(page.get_by_text("2 cases chosen")).to_be_visible()
        strike(page, "j" * 150 + "kk\n")
        expect(page.get_by_role("heading", level=1, name="case 348", exact=True)).to_be_visible()


# --- live ---------------------------------------------------------------------------------------------------------------

CASES = 9


def _positions(site: Site, run: dict[str, Any]) -> dict[str, int]:
    """Where the cases of a run are in it, by name."""
    items = site.get(f"/api/runs/{run['run_id']}/cases")["items"]
    return {one["eval_id"]: one["position"] for one in items}


def _of(run: dict[str, Any], position: int) -> re.Pattern[str]:
    return re.compile(f"/runs/{run['run_id']}/cases/{position}(\\?sort=case)?$")


@pytest.fixture
def gated(tmp_path: Path, serve: Callable[..., Site]) -> Iterator[Site]:
    """A server of a project whose agent answers when it is let; in the end all is let."""
    folder = make_project(tmp_path, CASES)
    yield serve(folder, folder / "runs.sqlite3")
    open_gate(folder, 1_000_000)


@pytest.fixture
def live(browser: Browser, gated: Site, problems: Problems) -> Iterator[Page]:
    """A page of that server."""
    context = visit(browser, gated.url)
    page = context.new_page()
    watch(page, problems)
    yield page
    context.close()
    assert problems.left() == []


def _start(page: Page, *, at_once: int = 1) -> str:
    """Start the run from the page; return its id."""
    page.goto("/start")
    page.get_by_label("Agent", exact=True).select_option("gated.py:root_agent")
    page.get_by_role("checkbox", name="greetings.evalset.json").check()
    page.get_by_label("Trials in parallel").fill(str(at_once))
    expect(page.get_by_text(f"trials of {CASES} cases")).to_be_visible()
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\w+$"))
    return page.url.rpartition("/")[2]


def _begin_so(page: Page, outcomes: list[str]) -> None:
    rows = page.get_by_role("table", name="Cases").get_by_role("row")
    for at, outcome in enumerate(outcomes):
        expect(rows.nth(at + 1)).to_contain_text(outcome)


@pytest.mark.slow
class TestARunUnderWay:
    def test_is_started_from_the_page_its_rows_arrive_and_its_verdict_comes_by_itself(
        self, live: Page, gated: Site, shot: Shot, axe: Look
    ) -> None:
        _start(live)
        expect(live.get_by_role("progressbar")).to_be_visible()
        expect(live.get_by_role("table", name="Cases")).to_be_visible()
        _begin_so(live, ["Pending"] * CASES)
        open_gate(gated.folder, 4)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        expect(live.get_by_role("row").filter(has_text="Failed")).to_have_count(2)
        _begin_so(live, ["Failed", "Failed"])
        expect(live.get_by_text(f"4 of {CASES} trials")).to_be_visible()
        axe(live)
        shot(live, "run-live")
        open_gate(gated.folder, CASES)
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        expect(live.get_by_role("progressbar")).to_have_count(0)

    @pytest.mark.nightly
    def test_is_there_again_after_a_reload_in_the_middle(self, live: Page, gated: Site) -> None:
        _start(live)
        open_gate(gated.folder, 3)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        live.reload()
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        open_gate(gated.folder, CASES)
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()

    def test_is_cancelled_after_a_question_and_resumed(self, live: Page, gated: Site, shot: Shot) -> None:
        _start(live)
        open_gate(gated.folder, 3)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        live.get_by_role("button", name="Cancel").click()
        live.get_by_role("button", name="Keep running").click()
        live.get_by_role("button", name="Cancel").click()
        live.get_by_role("button", name="Cancel the run").click()
        open_gate(gated.folder, 4)
        expect(live.get_by_text("Cancelled.")).to_be_visible()
        shot(live, "run-cancelled")
        open_gate(gated.folder, CASES)
        live.get_by_role("button", name="Resume the run").click()
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()

    @pytest.mark.nightly
    def test_of_another_process_shows_who_has_it_and_is_not_cancelled_here(
        self, live: Page, gated: Site
    ) -> None:
        words = ["eval", "gated.py:root_agent", "greetings.evalset.json", "--store", "runs.sqlite3"]
        other = subprocess.Popen(
            [sys.executable, "-m", "proctor", *words],
            cwd=gated.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _until(lambda: gated.get("/api/runs")["total"] == 1)
            live.goto("/runs/latest")
            expect(live.get_by_text(f"running in process {other.pid} on")).to_be_visible()
            expect(live.get_by_role("button", name="Cancel")).to_have_count(0)
            open_gate(gated.folder, CASES)
            expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        finally:
            other.terminate()
            other.wait(PATIENCE)

    @pytest.mark.nightly
    def test_continues_when_the_server_is_killed_and_the_page_finds_the_next_one(
        self, live: Page, gated: Site, problems: Problems, tmp_path: Path
    ) -> None:
        problems.expect("ERR_|502|503")
        run = _start(live)
        open_gate(gated.folder, 2)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(1)
        port = gated.url.rpartition(":")[2]
        os.kill(gated.process, signal.SIGKILL)
        expect(live.get_by_role("alert")).to_contain_text("The server does not answer")
        open_gate(gated.folder, 5)  # what happens in between
        log = (tmp_path / "second.log").open("wb")
        command = [sys.executable, "-m", "proctor", "web", "--port", port, "--store", "runs.sqlite3"]
        second = subprocess.Popen(command, cwd=gated.folder, stdout=log, stderr=log)
        try:
            expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(3)
            expect(live).to_have_url(re.compile(f"{run}$"))
            open_gate(gated.folder, CASES)
            expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        finally:
            second.terminate()
            second.wait(PATIENCE)
            log.close()


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("width", [710, 870])
def test_the_names_of_metrics_break_between_words_and_the_table_is_within_its_panel(
    page: Page, site: Site, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(f"/runs/{site.get('/api/runs')['items'][0]['run_id']}")
    names = page.get_by_role("tabpanel", name="Metrics").get_by_role("rowheader")
    expect(names.filter(has_text="tool_trajectory")).to_be_visible()
    heights = names.evaluate_all("(cells) => cells.map((cell) => cell.firstElementChild.offsetHeight)")
    assert max(heights) < 50, "two lines: tool_ and trajectory"
    over = names.first.evaluate(
        "(cell) => cell.closest('table').offsetWidth - cell.closest('table').parentElement.clientWidth"
    )
    assert over <= 0
