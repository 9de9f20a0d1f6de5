"""`--report html=FILE`: the page as one file, opened as a file, with no server anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from proctor.reports.base import load_report
from proctor.schema.results.run_result import RunResult, SetSummary
from tests.browser.conftest import Problems, Site, visit, watch
from tests.browser.markup import MARKUP
from tests.browser.samples import proctor
from tests.browser.waiting import until
from tests.reports.hostile_texts import everywhere


@pytest.fixture
def offline(browser: Browser, problems: Problems) -> Iterator[Page]:
    """A page in a browser that cannot reach anything. The test fails when anything went wrong on it."""
    context = visit(browser, None, offline=True, color_scheme="light")
    page = context.new_page()
    watch(page, problems)
    yield page
    assert problems.left() == []
    context.close()


@pytest.fixture(scope="module")
def file(site: Site) -> Path:
    """The latest run of the sample project, as a file."""
    proctor(site.folder, "show latest --report html=out/run.html --make-parents")
    return site.folder / "out" / "run.html"


def opened(page: Page, file: Path, address: str = "") -> None:
    page.goto(f"{file.as_uri()}#{address}" if address else file.as_uri())
    page.evaluate(_TURNED)  # within the file the address turns first, and the page after it
    page.get_by_role("main").wait_for()


_TURNED = "() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done))))"


def test_begins_with_the_verdict_and_has_all_rows(
    file: Path, offline: Page, site: Site, shot: Callable[[Page, str], None]
) -> None:
    run = site.get("/api/runs/latest")
    opened(offline, file)
    expect(offline.get_by_role("main")).to_contain_text(
        run["sentence"].partition(": ")[2]
    )  # the outcome is next to it
    for row in site.get(f"/api/runs/{run['run_id']}/cases")["items"]:
        expect(offline.get_by_text(row["eval_id"], exact=True).first).to_be_visible()
    shot(offline, "one-file-run")


@pytest.mark.nightly
def test_a_case_opens_with_its_trials_turns_spans_and_judges(
    file: Path, offline: Page, site: Site, axe: Callable[[Page], None]
) -> None:
    opened(offline, file)
    offline.get_by_text("two_turn_booking", exact=True).first.click()
    main = offline.get_by_role("main")
    expect(main).to_contain_text("covers")
    expect(main).to_contain_text("send_sms")
    for tab in ("Time", "Judges", "Metrics"):
        offline.get_by_role("tab", name=re.compile(tab)).click()
        expect(offline.get_by_role("tabpanel")).not_to_have_text("")
    axe(offline)


def test_an_address_in_the_file_goes_to_a_trial(file: Path, offline: Page, site: Site) -> None:
    run = site.get("/api/runs/latest")
    opened(offline, file, f"/runs/{run['run_id']}/cases/0?trial=2")
    expect(offline.get_by_role("main")).to_contain_text("two_turn_booking")
    offline.reload()
    expect(offline.get_by_role("main")).to_contain_text("two_turn_booking")


def links(page: Page) -> list[str]:
    return [
        str(one)
        for one in page.eval_on_selector_all("a[href]", "all => all.map((one) => one.getAttribute('href'))")
    ]


_MISSING = re.compile(r"does not have|not found|No history found|Try again|cannot be (read|changed)")


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "reported",
    [
        "show {7} --report html=out/all.html --make-parents",
        "export {2} --output out/all.html --make-parents",
        "compare {7} {0} --report html=out/all.html --make-parents",
    ],
    ids=["a run that had one before", "exported, judged by a model", "compared"],
)
def test_every_link_leads_to_something(reported: str, site: Site, offline: Page) -> None:
    runs = [one["run_id"] for one in site.get("/api/runs?limit=10")["items"]]
    proctor(site.folder, reported.format(*runs))
    file = site.folder / "out" / "all.html"
    opened(offline, file)
    offline.locator("main h1").wait_for()
    seen: set[str] = set()
    left = links(offline)
    while left and len(seen) < 60:
        here = left.pop()
        if here in seen or here == "#main":
            continue
        seen.add(here)
        assert here.startswith("#/"), here
        opened(offline, file, here[1:])
        offline.locator("main h1, main [role=tab]").first.wait_for()
        expect(offline.locator("main [class*=keleton]")).to_have_count(0)
        expect(offline.get_by_role("main")).not_to_contain_text(_MISSING)
        left += links(offline)
    assert len(seen) >= 8


@pytest.mark.nightly
def test_history_and_the_run_before_are_there(site: Site, offline: Page, axe: Callable[[Page], None]) -> None:
    runs = [one["run_id"] for one in site.get("/api/runs?limit=10")["items"]]
    proctor(site.folder, f"show {runs[7]} --report html=out/before.html --make-parents --overwrite")
    opened(offline, site.folder / "out" / "before.html")
    main = offline.get_by_role("main")
    offline.get_by_role("link", name="Compare").last.click()
    expect(main).to_contain_text("8 cases")
    offline.get_by_role("link", name="History").click()
    expect(main.get_by_role("heading", name="History")).to_be_visible()
    expect(main.get_by_role("combobox", name="Show")).to_have_count(0)  # more runs than there are in the file
    axe(offline)
    offline.get_by_role("row").filter(has_text="two_turn_booking").get_by_role("link").click()
    expect(main).to_contain_text(runs[7][:4])
    there = f"#/runs/{runs[7]}/cases/0"
    assert there in until(offline, lambda: links(offline), lambda found: there in found)
    assert not [one for one in links(offline) if "/runs/" in one and runs[7] not in one]
    axe(offline)


@pytest.mark.nightly
def test_a_history_that_is_not_in_the_file_is_where_its_command_is_shown(file: Path, offline: Page) -> None:
    opened(offline, file, "/history?set=bookings&case=it's%20not%20there")
    main = offline.get_by_role("main")
    expect(main.get_by_role("heading")).to_have_text("This file does not contain that history")
    expect(main).to_contain_text("""proctor history 'bookings/it'"'"'s not there'""")


@pytest.mark.nightly
def test_what_only_a_server_can_do_is_not_offered(file: Path, offline: Page) -> None:
    opened(offline, file)
    for name in ("Start", "Chat", "Eval sets"):
        expect(offline.get_by_role("link", name=name)).to_have_count(0)


@pytest.mark.nightly
def test_several_runs_are_a_list(site: Site, offline: Page) -> None:
    proctor(
        site.folder,
        "eval --agent examples/travel --agent examples/travel/flawed.py --set examples/travel/bookings.evalset.json "
        "--store sqlite:///out/two.sqlite3 --report html=out/two.html --make-parents",
    )
    opened(offline, site.folder / "out" / "two.html")
    rows = offline.get_by_role("row").filter(has_text="travel")
    expect(rows).to_have_count(2)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("at", range(0, len(MARKUP), 30))
def test_text_of_an_agent_is_never_markup(at: int, offline: Page, tmp_path: Path) -> None:
    """Fault 36 for the file: in every field; a dialog, a request or a report of the policy fails the test."""
    offline.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    texts = MARKUP[at : at + 30]
    cases = [case for text in texts for case in everywhere(text).cases]
    run = RunResult(texts[0], cases, [SetSummary("s", texts[0], texts[0], len(cases))], warnings=texts)
    path = tmp_path / "hostile.html"
    with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
        load_report("html").write([run], out)
    opened(offline, path)
    expect(offline.get_by_role("main")).to_contain_text(texts[0].strip())
    for position in range(0, len(cases), 5):
        offline.goto(f"{path.as_uri()}#/runs/run-1/cases/{position}")
        expect(offline.get_by_role("main")).to_contain_text("Conversation")
    assert offline.evaluate("typeof owned") == "undefined"
    inside = "main :is(img, iframe, object, embed, video, audio, form[action], base, meta)"
    expect(offline.locator(inside)).to_have_count(0)


def test_there_are_enough_of_them() -> None:
    assert len(set(MARKUP)) >= 100
