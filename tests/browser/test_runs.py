"""Screen 1, the list of runs: seen, filtered, moved through by keys, compared, copied."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import NARROW, Problems, Site, visit
from tests.browser.samples import NUM_RUNS
from tests.browser.waiting import PATIENCE, copied, strike, until

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

FAIL_UNTIL_A_CLICK = """() => {
    const { fetch } = window;
    window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    addEventListener("click", () => { window.fetch = fetch; }, { capture: true, once: true });
}"""


def _open(page: Page, path: str = "/runs") -> None:
    page.goto(path)
    listed = page.get_by_role("table", name="Runs")
    expect(listed.or_(page.get_by_role("heading", name="No matching run"))).to_be_visible()


def _rows(page: Page) -> Locator:
    return page.get_by_role("table", name="Runs").locator("[data-index]")


def test_shows_every_run_newest_first_with_how_it_ended(page: Page, site: Site, shot: Shot) -> None:
    _open(page)
    expect(_rows(page)).to_have_count(NUM_RUNS)
    for at, run in enumerate(site.get("/api/runs")["items"]):
        row = _rows(page).nth(at)
        expect(row).to_contain_text(run["agent"])
        expect(row).to_contain_text(run["short"])
        expect(row).to_contain_text(run["outcome"].capitalize())
        expect(row).to_contain_text(f"of {run['cases']}")
    shot(page, "runs")


def test_shows_in_a_sentence_what_happened_last(page: Page) -> None:
    _open(page)
    expect(page.locator("main")).to_contain_text(
        re.compile(r"travel\.flawed on bookings, failed .*: \d of 8 cases passed. 10 runs are stored.")
    )


@pytest.mark.nightly
def test_is_usable_by_all_and_fits(page: Page, axe: Look, fits: Look) -> None:
    _open(page)
    axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)


FILTERS = {
    "an outcome": ("outcome:passed", 6, "Passed"),
    "an agent by a pattern": ("agent:travel*", 3, "travel"),
    "a word": ("hasty", 1, "retail.hasty"),
    "a set and an outcome": ("set:guide outcome:failed", 1, "boastful"),
    "a day": ("since:2020-01-01", NUM_RUNS, ""),
}


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("line", "found", "each"), FILTERS.values(), ids=FILTERS)
def test_a_filter_is_in_the_address_and_outlives_a_reload(
    page: Page, line: str, found: int, each: str
) -> None:
    _open(page)
    page.get_by_label("Filter runs").fill(line)
    expect(_rows(page)).to_have_count(found)
    expect(_rows(page).filter(has_text=each)).to_have_count(found)
    expect(page).to_have_url(re.compile("q="))
    page.reload()
    expect(page.get_by_role("row")).to_have_count(found + 1)
    expect(page.get_by_label("Filter runs")).to_have_value(line)


@pytest.mark.nightly
def test_a_filter_that_fits_nothing_reports_it_and_is_taken_back(page: Page, axe: Look) -> None:
    _open(page, "/runs?q=agent%3Anobody")
    expect(page.get_by_text("No matching run")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Show all runs").click()
    expect(page.get_by_role("row")).to_have_count(NUM_RUNS + 1)


@pytest.mark.nightly
def test_a_filter_that_is_wrong_shows_what_it_takes(page: Page, axe: Look) -> None:
    _open(page, "/runs?q=outcome%3Agreen")
    expect(page.get_by_role("alert").filter(has_text="not a valid outcome").first).to_be_visible()
    axe(page)


def test_two_runs_are_compared_older_first(page: Page, site: Site) -> None:
    _open(page)
    newer, older = [run["run_id"] for run in site.get("/api/runs?agent=travel*")["items"]][:2]
    page.get_by_label(f"Compare {newer}").check()
    expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    page.get_by_label(f"Compare {older}").check()
    page.get_by_role("button", name="Compare 2").click()
    expect(page).to_have_url(f"{site.url}/compare?base={older}&candidate={newer}")


def test_three_runs_make_a_matrix_by_keys_alone(page: Page) -> None:
    _open(page)
    for key in ("j", "x", "j", "x", "j", "x", "c"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(r"/matrix\?runs=\w+%2C\w+%2C\w+$"))


@pytest.mark.nightly
def test_keys_move_open_and_come_back(page: Page, site: Site) -> None:
    _open(page)
    runs = [run["run_id"] for run in site.get("/api/runs")["items"]]
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
    expect(page.locator('[aria-current="true"]')).to_contain_text(runs[1][:6])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.url}/runs/{runs[1]}")
    strike(page, "gr")  # within a second, that is
    expect(page).to_have_url(f"{site.url}/runs")
    page.keyboard.press("/")
    expect(page.get_by_label("Filter runs")).to_be_focused()
    page.keyboard.type("jk?")  # a text by now
    expect(page.get_by_label("Filter runs")).to_have_value("jk?")


@pytest.mark.nightly
def test_help_lists_the_keys_and_gives_the_focus_back(page: Page, axe: Look, shot: Shot) -> None:
    _open(page)
    page.keyboard.type("jxjx")  # two runs that can be compared
    page.get_by_role("button", name="Keyboard help").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    for does in ("next row", "previous row", "filter", "Runs", "compare the chosen runs"):
        expect(dialog).to_contain_text(does)
    axe(page)
    shot(page, "help")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Keyboard help")).to_be_focused()


@pytest.mark.nightly
def test_names_of_agents_are_whole_at_every_width(page: Page) -> None:
    _open(page, "/runs?q=hasty")
    for width in (1400, 1101, 820, 641, 390):
        page.set_viewport_size({"width": width, "height": 800})
        box = page.get_by_role("table", name="Runs").get_by_text("retail.hasty", exact=True).bounding_box()
        assert box is not None
        assert box["height"] < 30, f"more than one line at {width} pixels"


@pytest.mark.nightly
def test_copies_the_list_as_markdown(page: Page, site: Site) -> None:
    _open(page, "/runs?q=hasty")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("button", name="Copy as Markdown").click()
    head, rule, row = copied(page, "| Run | Agent |").splitlines()
    assert head.startswith("| Run | Agent | Sets | Outcome | Cases passed |")
    assert set(rule) <= set("|- :")
    listed = site.get("/api/runs?agent=retail.hasty")["items"][0]
    assert row.startswith(f"| `{listed['short']}` | retail.hasty |")
    assert f"{listed['pass_rate']['count']} of 10 ({listed['pass_rate']['count']}0\u202f%)" in row


@pytest.mark.nightly
def test_colours_are_chosen_and_kept(page: Page) -> None:
    _open(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = str(page.evaluate(ground))
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    dark = until(page, lambda: str(page.evaluate(ground)), lambda colour: colour != light)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert until(page, lambda: str(page.evaluate(ground)), lambda colour: colour == dark) == dark


@pytest.mark.nightly
def test_what_is_touched_is_large_enough(context_of_touch: Page) -> None:
    page = context_of_touch
    _open(page)
    small = """() => [...document.querySelectorAll("header a, header button, main button, main input[type=text], main label, main [role=row] a")]
            .map((one) => [one.textContent || one.ariaLabel, one.getBoundingClientRect()])
            .filter(([, box]) => box.width && (box.height < 44 || box.width < 40))
            .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
    assert until(page, lambda: page.evaluate(small), lambda found: found == []) == []


@pytest.fixture
def context_of_touch(browser: Browser, site: Site) -> Iterator[Page]:
    context = visit(browser, site.url, viewport=NARROW, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


_SLOW = """
import asyncio
from pathlib import Path

async def root_agent(text: str) -> str:
    while not Path("seen").exists():
        await asyncio.sleep(0.05)
    return "Hello, and welcome!"
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_a_run_appears_while_it_continues_and_ends_before_the_eyes(page: Page, own_site: Site) -> None:
    (own_site.folder / "slow.py").write_text(_SLOW, encoding="utf-8")
    page.goto(f"{own_site.url}/runs?q=slow")
    expect(page.get_by_text("No matching run")).to_be_visible()
    reported = ["eval", "slow.py", "greetings.evalset.json:moody"]
    with subprocess.Popen(
        [sys.executable, "-m", "proctor", *reported], cwd=own_site.folder, stdout=subprocess.DEVNULL
    ) as running:
        row = page.get_by_role("row").filter(has_text="slow")
        try:
            expect(row).to_contain_text("Running")
        finally:
            (own_site.folder / "seen").touch()
        expect(row).to_contain_text("Passed")
        assert running.wait(timeout=PATIENCE) == 0
    expect(row).to_contain_text("of 1")


def test_where_nothing_ran_yet_it_shows_what_to_do(
    page: Page, serve: Callable[..., Site], tmp_path: Path, axe: Look, shot: Shot
) -> None:
    empty = serve(tmp_path, tmp_path / "store.sqlite3")
    page.goto(f"{empty.url}/")
    expect(page.get_by_role("heading", name="No runs yet")).to_be_visible()
    expect(page.get_by_text("proctor eval AGENT EVAL_SET")).to_be_visible()
    axe(page)
    shot(page, "runs-empty")


def test_a_server_that_is_gone_is_reported_and_the_runs_stay(
    page: Page, problems: Problems, axe: Look
) -> None:
    problems.expect("ERR_|Failed to load")
    _open(page)
    page.route("**/api/runs*", lambda route: route.abort())
    page.get_by_label("Filter runs").fill("outcome:passed")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("The server does not answer")
    axe(page)
    page.evaluate(FAIL_UNTIL_A_CLICK)  # the page asks again by itself, and must not succeed before the click
    page.unroute("**/api/runs*")
    note.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("row")).to_have_count(7)
    expect(note).to_be_hidden()


@pytest.mark.nightly
def test_an_address_without_a_page_shows_the_way(page: Page, axe: Look) -> None:
    page.goto("/nowhere/at/all")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="All runs").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
