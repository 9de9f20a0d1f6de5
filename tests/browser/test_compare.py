"""Screen 4: two runs compared, and one case of them side by side."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, Problems, Site
from tests.browser.waiting import copied, until

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]


def ids(site: Site, agent: str) -> list[str]:
    """The runs of an agent, newest first."""
    return [run["run_id"] for run in site.get("/api/runs?limit=100")["items"] if run["agent"] == agent]


@pytest.fixture
def regression(site: Site) -> str:
    """Where a sound build is compared with a flawed one."""
    return f"/compare?base={ids(site, 'travel')[0]}&candidate={ids(site, 'travel.flawed')[0]}"


def _open(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("table", name="Metrics")).to_be_visible()


def _reported(site: Site, path: str) -> Any:
    return site.get(f"/api{path}")


def test_the_sentence_comes_first_and_is_that_of_the_command(
    page: Page, site: Site, regression: str, shot: Shot
) -> None:
    _open(page, regression)
    reported = _reported(site, regression)
    expect(page.get_by_role("heading", level=1)).to_contain_text("travel")
    expect(page.locator("main")).to_contain_text("Regression")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(reported["command"]), "--json"],
        cwd=site.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    by_command = json.loads(done.stdout)
    assert by_command["sentence"] == reported["sentence"]
    sentence = reported["sentence"].partition(": ")[2]
    shown = sentence.replace(" x ", " × ").replace("(-", "(−").replace(" -", " −")
    expect(page.locator("main")).to_contain_text(shown[1:])
    for question in ("On these cases", "In general"):
        expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.get_by_role("region", name="Two questions").get_by_role("img")).to_have_count(2)
    shot(page, "compare")


@pytest.mark.nightly
def test_every_metric_has_its_interval_and_its_test(page: Page, site: Site, regression: str) -> None:
    _open(page, regression)
    rows = page.get_by_role("table", name="Metrics").get_by_role("row")
    reported = _reported(site, regression)["measures"]
    expect(rows).to_have_count(1 + len(reported))
    for at, one in enumerate(reported):
        row, within = rows.nth(at + 1), one["interval_text"]
        for part in one["base_text"].rstrip(")").split(" ("):  # the denominator has its own line
            expect(row).to_contain_text(part)
        expect(row.get_by_role("img")).to_have_attribute("aria-label", re.compile(re.escape(within)))


@pytest.mark.nightly
def test_p_values_are_shown_on_demand(page: Page, regression: str) -> None:
    _open(page, regression)
    values = page.locator("details").filter(has_text="p-values").get_by_role("table")
    expect(values).to_be_hidden()
    page.get_by_text("p-values").click()
    expect(values.get_by_role("row").filter(has_text="pass rate")).to_contain_text("0.031")


@pytest.mark.nightly
def test_zero_is_at_one_place_in_all_bars(page: Page, regression: str) -> None:
    _open(page, regression)
    marks = page.get_by_role("table", name="Metrics").locator("s")
    expect(marks.nth(3)).to_be_visible()
    boxes = "marks => marks.map((mark) => mark.getBoundingClientRect().x)"
    places = until(page, lambda: marks.evaluate_all(boxes), lambda found: max(found) - min(found) <= 1)
    assert max(places) - min(places) <= 1


def test_what_changed_is_listed_worse_first_with_why(page: Page, site: Site, regression: str) -> None:
    _open(page, regression)
    reported = _reported(site, regression)["cases"]
    rows = page.get_by_role("table", name="Changed cases").get_by_role("row")
    expect(rows).to_have_count(1 + len(reported))
    for at, case in enumerate(reported):
        expect(rows.nth(at + 1).get_by_text(case["eval_id"], exact=True)).to_be_visible()
    expect(rows.nth(1)).to_contain_text("Now fails")
    expect(rows.nth(1)).to_contain_text(reported[0]["reason"][:30])


@pytest.mark.nightly
def test_a_kind_and_words_are_in_the_address(page: Page, regression: str) -> None:
    _open(page, regression)
    table = page.get_by_role("table", name="Changed cases")
    page.get_by_role("button", name=re.compile("missing verdicts 1", re.IGNORECASE)).click()
    expect(table.get_by_role("row")).to_have_count(2)
    page.reload()
    expect(table.get_by_role("row")).to_have_count(2)
    page.get_by_label("Filter cases").fill("nothing is called that")
    expect(page.get_by_text("No matching case")).to_be_visible()
    page.get_by_role("button", name="Show all cases").click()
    expect(table.get_by_role("row")).to_have_count(8)


@pytest.mark.nightly
def test_a_row_opens_the_two_trials_where_they_part(
    page: Page, site: Site, regression: str, shot: Shot, axe: Look, fits: Look
) -> None:
    _open(page, regression)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="two_turn_booking")).to_be_visible()
    expect(page.locator("main")).to_contain_text("First difference in turn 2, after 5 equal steps.")
    changed = page.locator('[data-kind="differs"]').first
    expect(changed.locator("mark, del, ins").first).to_have_text("2")
    expect(changed).to_contain_text("covers=4")
    expect(page.locator('[data-kind="extra"]').first).to_contain_text("only in the candidate")
    expect(page.get_by_role("table", name="Reasons of the metrics")).to_contain_text("final_session_state")
    shot(page, "compare-case")
    axe(page)
    fits(page)


@pytest.mark.nightly
def test_keys_go_from_changed_case_to_changed_case_and_back_up(
    page: Page, site: Site, regression: str
) -> None:
    cases = _reported(site, regression)["cases"]
    _open(page, regression)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(cases[0]["eval_id"])
    for key, at in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1)).to_have_text(cases[at]["eval_id"])
    page.keyboard.press("u")
    expect(page.get_by_role("table", name="Metrics")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(cases[1]["eval_id"])


def test_the_runs_and_the_margin_are_chosen_on_the_page(page: Page, site: Site, regression: str) -> None:
    _open(page, regression)
    page.get_by_label("Margin").select_option("0.2")
    expect(page).to_have_url(re.compile(r"margin=0\.2"))
    expect(page.locator("main")).to_contain_text("--margin 0.2")
    page.get_by_role("button", name="Swap the two runs").click()
    expect(page.locator("main")).to_contain_text("Improvement")
    older = ids(site, "travel")[1]
    page.get_by_label("Baseline").select_option(older)
    expect(page).to_have_url(re.compile(f"base={older}"))
    expect(page.get_by_role("link", name=re.compile(older[:6]))).to_be_visible()


@pytest.mark.nightly
def test_runs_that_are_not_comparable_show_their_differences(page: Page, site: Site) -> None:
    _open(page, f"/compare?base={ids(site, 'retail')[0]}&candidate={ids(site, 'retail.hasty')[0]}")
    expect(page.locator("main")).to_contain_text("the cases of retail desk had 2 trials and have 4 trials")
    expect(page.locator("main")).not_to_contain_text("Cases, criteria and judge.")


@pytest.mark.nightly
def test_a_baseline_is_chosen_by_its_name(page: Page, own_site: Site) -> None:
    command = [sys.executable, "-m", "proctor", "baseline", "set", "main", ids(own_site, "travel")[0]]
    subprocess.run(command, cwd=own_site.folder, check=True, capture_output=True)
    page.goto(f"{own_site.url}/compare?base=main&candidate={ids(own_site, 'travel.flawed')[0]}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("main")
    expect(page.get_by_label("Baseline")).to_have_value("main")
    expect(page.get_by_text(re.compile(r"^proctor compare --baseline main "))).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("First difference in turn 2")


@pytest.mark.nightly
def test_it_is_copied_as_markdown(page: Page, regression: str) -> None:
    _open(page, regression)
    page.get_by_role("button", name="Copy as Markdown").click()
    copied(page, "### ✕ regression: ")


@pytest.mark.nightly
def test_it_is_usable_by_all_and_fits(page: Page, regression: str, axe: Look, fits: Look) -> None:
    _open(page, regression)
    axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
    expect(page.get_by_role("table", name="Changed cases").get_by_role("row").nth(1)).to_contain_text(
        "covers"
    )


def test_bare_it_compares_the_newest_run_with_the_last_one_that_shares_a_set(page: Page, site: Site) -> None:
    """The newest run of all may share no set with another one: then it is left out."""
    runs = site.get("/api/runs?limit=200")["items"]
    pairs = [
        (base["run_id"], newest["run_id"])
        for at, newest in enumerate(runs)
        for base in runs[at + 1 :]
        if {*base["sets"]} & {*newest["sets"]}
    ]
    page.goto("/compare")
    expect(page.get_by_label("Baseline")).to_have_value(pairs[0][0])
    expect(page.get_by_label("Candidate")).to_have_value(pairs[0][1])
    expect(page.get_by_role("heading", name="On these cases")).to_be_visible()


@pytest.mark.nightly
def test_runs_without_a_common_case_are_reported_and_others_can_be_chosen(
    page: Page, site: Site, problems: Problems
) -> None:
    problems.expect("400")
    page.goto("/compare?base=previous&candidate=latest")
    expect(page.get_by_role("alert").filter(has_text="no case in common").first).to_be_visible()
    page.get_by_label("Baseline").select_option(ids(site, "travel")[0])
    expect(page.locator("main")).to_contain_text("Regression")


@pytest.mark.nightly
def test_a_run_that_is_not_there_is_reported(page: Page, problems: Problems) -> None:
    problems.expect("404")
    page.goto("/compare?base=unknown")
    expect(page.get_by_role("alert").filter(has_text="No run named 'unknown'").first).to_be_visible()


# --- hostile text, and size ---------------------------------------------------------------------------------------------

_EVIL = "<img src=x onerror=alert(1)>\u202e\x1b[2J"
_MAKE = """
import sys, proctor
from pathlib import Path
evil, cases, store = sys.argv[1], int(sys.argv[2]), Path("store.sqlite3")
names = [evil, *(f"case_{n}" for n in range(cases - 1))]
words = {"role": "model", "parts": [{"text": "fine"}]}
kept = [{"eval_id": n, "conversation": [{"user_content": {"role": "user", "parts": [{"text": n}]}, "final_response": words}]} for n in names]
config = {"criteria": {"response_match_score": 0.8}}
for answer in ("fine", f"</script>{evil}"):
    agent = lambda text, answer=answer: answer if hash(text) % 3 or text == evil else "fine"
    proctor.evaluate_sync(agent, {"eval_set_id": "set " + evil, "eval_cases": kept}, config=config, store=store)
"""


def _own(serve: Callable[..., Site], folder: Path, cases: int) -> Site:
    reported = [sys.executable, "-c", _MAKE, _EVIL.replace("\x1b", "\\x1b"), str(cases)]
    subprocess.run(reported, cwd=folder, check=True, capture_output=True)
    return serve(folder, folder / "store.sqlite3")


@pytest.mark.nightly
def test_text_of_agents_and_files_stays_text(page: Page, serve: Callable[..., Site], tmp_path: Path) -> None:
    site = _own(serve, tmp_path, 12)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.goto(f"{site.url}/compare")
    expect(page.get_by_role("table", name="Changed cases")).to_contain_text(
        "<img src=x onerror=alert(1)>\\u202e"
    )
    found = site.get("/api/compare")["cases"]
    evil = next(case for case in found if case["eval_id"].startswith("<img"))
    page.goto(f"{site.url}/compare?set={quote(evil['eval_set_id'])}&case={quote(evil['eval_id'])}")
    expect(page.locator("main")).to_contain_text("</script><img src=x onerror=alert(1)>")
    expect(page.locator("main img:not([role])")).to_have_count(0)
    page.goto(f"{site.url}/matrix?runs=latest,previous")
    expect(page.get_by_role("table", name="Cases")).to_contain_text("<img src=x")
    page.goto(f"{site.url}/history")
    expect(page.get_by_role("table", name="Cases")).to_contain_text("<img src=x")
    page.goto(f"{site.url}/history?case={quote(evil['eval_id'])}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
