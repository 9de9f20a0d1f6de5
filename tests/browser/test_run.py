"""Screens 2 and 3, a run and its cases: read, filtered, moved through by keys; live while it is under way."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NARROW, WIDE, Problems, Site, watch
from tests.server.live_project import make_project, open_gate

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]


@pytest.fixture(autouse=True)
def _patience() -> Iterator[None]:
    """What waits for another process waits as long as a busy machine takes."""
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


def _run_of(site: Site, agent: str) -> dict[str, Any]:
    found = [run for run in site.get("/api/runs")["items"] if run["agent"] == agent]
    newest: dict[str, Any] = found[0]
    return newest


def _open(page: Page, site: Site, agent: str, query: str = "") -> dict[str, Any]:
    run = _run_of(site, agent)
    page.goto(f"/runs/{run['run_id']}{query}")
    expect(page.get_by_role("table", name="Cases")).to_be_visible()
    return run


def _cases(page: Page) -> list[str]:
    return page.get_by_role("table", name="Cases").locator("b").all_inner_texts()


class TestARunThatIsOver:
    def test_says_the_verdict_first_and_the_reason_in_the_row(
        self, page: Page, site: Site, shot: Shot
    ) -> None:
        _open(page, site, "travel.flawed")
        main = page.locator("main")
        expect(main).to_contain_text("6 of 8 cases fail, 1 could not be judged.")
        expect(main).to_contain_text("cases passed, 95 %: 2–47")
        row = page.get_by_role("row").filter(has_text="two_turn_booking")
        expect(row).to_contain_text("covers is 4, expected 2")
        expect(row.get_by_role("img", name="5 failed")).to_be_visible()
        shot(page, "run")

    def test_has_what_failed_first(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        shown = _cases(page)
        assert shown[-1] == "no_such_restaurant"
        assert shown[-2] == "two_turn_flight"  # an error comes after the failures

    def test_is_usable_by_all_and_fits(self, page: Page, site: Site, axe: Look, fits: Look) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_text("Criteria, judges and what was run").click()
        axe(page)
        fits(page)
        page.emulate_media(color_scheme="dark")
        axe(page)

    def test_says_by_what_it_was_judged_and_what_was_run(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_text("Criteria, judges and what was run").click()
        expect(page.locator("main")).to_contain_text("tool_trajectory_avg_score")
        expect(page.locator("main")).to_contain_text("examples/travel/flawed.py")

    def test_at_390_pixels_reads_as_a_list(self, page: Page, site: Site, shot: Shot) -> None:
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
        _open(page, site, "travel.flawed")
        row = page.get_by_role("row").filter(has_text="two_turn_booking")
        expect(row.get_by_text("expected 2").first).to_be_visible()
        expect(page.get_by_role("columnheader", name="Why")).to_be_hidden()
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # a dict of numbers is what it takes

    def test_the_run_before_is_a_link_and_a_comparison(self, page: Page, site: Site) -> None:
        run = _open(page, site, "travel")
        against = site.get(f"/api/runs/{run['run_id']}")["against"]
        expect(page.get_by_role("link", name=against["short"])).to_have_attribute(
            "href", f"/runs/{against['run_id']}"
        )
        page.get_by_role("link", name="Compare").last.click()
        expect(page).to_have_url(re.compile(f"base={against['run_id']}&candidate={run['run_id']}"))

    def test_markup_in_ids_and_answers_is_text(self, page: Page, site: Site) -> None:
        _open(page, site, "greeter")
        assert "<script>alert(1)</script>" in _cases(page)

    def test_is_copied_as_markdown(self, page: Page, site: Site) -> None:
        _open(page, site, "greeter")
        page.get_by_role("button", name="Copy as Markdown").click()
        expect(page.get_by_text("Copied")).to_be_visible()
        text = page.evaluate("() => navigator.clipboard.readText()")
        assert text.startswith("**greeter on greetings")
        assert "| `moody` | failed |" in text

    def test_that_is_not_there_says_so(self, page: Page, problems: Problems) -> None:
        problems.expect("404")
        page.goto("/runs/nobody")
        expect(page.get_by_role("main")).to_contain_text("No run named 'nobody'")
        page.get_by_role("link", name="All runs").click()
        expect(page).to_have_url(re.compile("/runs$"))


FILTERS = [
    ("outcome:error", ["two_turn_flight"]),
    ('"expected 2"', ["two_turn_booking"]),
    ("outcome:passed or outcome:error", ["two_turn_flight", "no_such_restaurant"]),
    ("trajectory>=1 outcome:failed", ["cancel_the_table"]),
]


class TestFiltering:
    @pytest.mark.parametrize(("text", "left"), FILTERS, ids=[text for text, _ in FILTERS])
    def test_finds_what_was_asked_for_and_the_address_keeps_it(
        self, page: Page, site: Site, text: str, left: list[str]
    ) -> None:
        _open(page, site, "travel.flawed")
        page.keyboard.press("/")
        page.keyboard.type(text)
        expect(page.get_by_role("search").get_by_role("status")).to_have_text(f"{len(left)} of 8")
        assert _cases(page) == left
        page.reload()
        expect(page.get_by_role("search").get_by_role("status")).to_have_text(f"{len(left)} of 8")

    def test_says_what_it_cannot_read_and_shows_all(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed", "?q=outcom:failed")
        expect(page.get_by_role("alert")).to_contain_text("did you mean outcome?")
        assert len(_cases(page)) == 8

    def test_offers_what_a_word_may_become(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_label("Filter cases").fill("outcome:e")
        page.get_by_role("button", name="outcome:error", exact=True).click()
        expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 8")

    def test_that_leaves_nothing_offers_all(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed", "?q=outcome:failed")
        page.goto(page.url.replace("failed", "skipped"))
        page.get_by_role("button", name="Show all cases").click()
        expect(page.get_by_role("search").get_by_role("status")).to_have_text("8 of 8")

    def test_sorts_by_a_column_and_back(self, page: Page, site: Site) -> None:
        _open(page, site, "travel.flawed")
        page.get_by_role("button", name="Case").click()
        assert _cases(page) == sorted(_cases(page))
        expect(page).to_have_url(re.compile("sort=case"))
        page.get_by_role("button", name="What changed first").click()
        assert _cases(page)[-1] == "no_such_restaurant"


class TestKeys:
    def test_move_stop_at_what_is_worth_a_look_and_open(self, page: Page, site: Site) -> None:
        run = _open(page, site, "travel.flawed", "?sort=case")
        page.keyboard.press("j")
        page.keyboard.press("n")
        page.keyboard.press("k")
        page.keyboard.press("j")
        row = page.locator("[role=row][aria-current]")
        expect(row).to_have_count(1)
        wanted = row.locator("b").inner_text()
        position = next(
            one["position"]
            for one in site.get(f"/api/runs/{run['run_id']}/cases")["items"]
            if one["eval_id"] == wanted
        )
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"/runs/{run['run_id']}/cases/{position}$"))


# --- live ---------------------------------------------------------------------------------------------------------------

CASES = 9


@pytest.fixture
def gated(tmp_path: Path, serve: Callable[..., Site]) -> Iterator[Site]:
    """A server of a project whose agent answers when it is let; in the end all is let."""
    folder = make_project(tmp_path, CASES)
    yield serve(folder, folder / "runs.sqlite3")
    open_gate(folder, 1_000_000)


@pytest.fixture
def live(browser: Browser, gated: Site, problems: Problems) -> Iterator[Page]:
    """A page of that server."""
    context = browser.new_context(base_url=gated.url, viewport=WIDE)  # type: ignore[arg-type]  # a dict of numbers is what it takes
    context.set_default_timeout(20_000)
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
    page.get_by_label("Trials at once").fill(str(at_once))
    expect(page.get_by_text(f"trials of {CASES} cases")).to_be_visible()
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\w+$"))
    return page.url.rpartition("/")[2]


def _outcomes(page: Page) -> list[str]:
    rows = page.get_by_role("table", name="Cases").get_by_role("row").all_inner_texts()[1:]
    return [next(word for word in ("Passed", "Failed", "Not run") if word in row) for row in rows]


@pytest.mark.slow
class TestARunUnderWay:
    def test_is_started_from_the_page_its_rows_arrive_and_its_verdict_comes_by_itself(
        self, live: Page, gated: Site, shot: Shot, axe: Look
    ) -> None:
        _start(live)
        expect(live.get_by_role("progressbar")).to_be_visible()
        expect(live.get_by_role("table", name="Cases")).to_be_visible()
        assert _outcomes(live) == ["Not run"] * CASES
        open_gate(gated.folder, 4)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        expect(live.get_by_role("row").filter(has_text="Failed")).to_have_count(2)
        assert _outcomes(live)[:2] == ["Failed", "Failed"]
        expect(live.get_by_text(f"4 of {CASES} trials")).to_be_visible()
        axe(live)
        shot(live, "run-live")
        open_gate(gated.folder, CASES)
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        expect(live.get_by_role("progressbar")).to_have_count(0)

    def test_is_there_again_after_a_reload_in_the_middle(self, live: Page, gated: Site) -> None:
        _start(live)
        open_gate(gated.folder, 3)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        live.reload()
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        open_gate(gated.folder, CASES)
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()

    def test_is_cancelled_after_a_question_and_gone_on_with(
        self, live: Page, gated: Site, shot: Shot
    ) -> None:
        _start(live)
        open_gate(gated.folder, 3)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(2)
        live.get_by_role("button", name="Cancel").click()
        live.get_by_role("button", name="Let it run").click()
        live.get_by_role("button", name="Cancel").click()
        live.get_by_role("button", name="Cancel the run").click()
        open_gate(gated.folder, 4)
        expect(live.get_by_text("Cancelled.")).to_be_visible(timeout=30_000)
        shot(live, "run-cancelled")
        open_gate(gated.folder, CASES)
        live.get_by_role("button", name="Go on with it").click()
        expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()

    def test_of_another_process_says_who_has_it_and_is_not_cancelled_here(
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
            expect(live.get_by_text(f"by process {other.pid}")).to_be_visible()
            expect(live.get_by_role("button", name="Cancel")).to_have_count(0)
            open_gate(gated.folder, CASES)
            expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        finally:
            other.wait(30)

    def test_goes_on_when_the_server_is_killed_and_the_page_finds_the_next_one(
        self, live: Page, gated: Site, problems: Problems, tmp_path: Path
    ) -> None:
        problems.expect("ERR_|502|503")
        run = _start(live)
        open_gate(gated.folder, 2)
        expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(1)
        port = gated.url.rpartition(":")[2]
        _kill_who_listens(port)
        expect(live.get_by_text("The server does not answer; trying again")).to_be_visible()
        open_gate(gated.folder, 5)  # what happens meanwhile
        log = (tmp_path / "second.log").open("wb")
        command = [sys.executable, "-m", "proctor", "web", "--port", port, "--store", "runs.sqlite3"]
        second = subprocess.Popen(command, cwd=gated.folder, stdout=log, stderr=log)
        try:
            expect(live.get_by_role("row").filter(has_text="Passed")).to_have_count(3, timeout=30_000)
            assert live.url.endswith(run)
            open_gate(gated.folder, CASES)
            expect(live.get_by_text("3 of 9 cases fail.")).to_be_visible()
        finally:
            second.terminate()
            second.wait(30)
            log.close()


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def _kill_who_listens(port: str) -> None:
    """Kill the one server of ours that was started with this port."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:4] == [b"-m", b"proctor", b"web"] and port.encode() in words:
            subprocess.run(["kill", "-9", folder.name], check=True)
