"""Every page reports a server that does not respond, also one on which nobody presses anything, until it responds again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Problems, Site, visit, watch
from tests.cli.fork_command import fork_web

Look = Callable[[Page], None]


def test_idle_pages_report_a_server_that_ended_until_the_next_one_responds(
    browser: Browser,
    project: tuple[Path, Path],
    serve: Callable[..., Site],
    problems: Problems,
    axe: Look,
    tmp_path: Path,
) -> None:
    problems.expect("ERR_|Failed to load")
    site = serve(*project)
    context = visit(browser, site.url)
    pages = []
    for path in ("/runs/latest", "/start", "/nowhere"):
        page = context.new_page()
        watch(page, problems)
        page.goto(path)
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("alert")).to_have_count(0)
        pages.append(page)
    os.kill(site.process, signal.SIGKILL)
    for page in pages:
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    axe(pages[0])
    port = site.url.rpartition(":")[2]
    more = ["--port", port, "--store", f"sqlite:///{site.store}"]
    with fork_web(*more, cwd=site.folder, log=tmp_path / "log.txt"):
        for page in pages:
            expect(page.get_by_role("alert")).to_have_count(0)
            expect(page.get_by_role("heading").first).to_be_visible()
        context.close()
    assert problems.left() == []


def test_what_a_user_sends_meanwhile_has_no_error_of_its_own_until_the_server_responds_again(
    browser: Browser, own_site: Site, problems: Problems, tmp_path: Path
) -> None:
    problems.expect("ERR_|Failed to load")
    context = visit(browser, own_site.url)
    start, editor = context.new_page(), context.new_page()
    for page in (start, editor):
        watch(page, problems)
    start.goto("/start?agent=greeter.py&set=greetings.evalset.json")
    start.wait_for_load_state("networkidle")
    sets = own_site.get("/api/eval-sets")["items"]
    greetings = next(one["id"] for one in sets if one["path"] == "greetings.evalset.json")
    editor.goto(f"/eval-sets/{quote(greetings, safe='')}/cases/moody")
    editor.get_by_label("Id", exact=True).fill("moody_2")
    os.kill(own_site.process, signal.SIGKILL)
    editor.get_by_role("button", name="Save", exact=True).click()
    start.get_by_label("Trials per case").fill("3")  # asks for another estimate
    for page in (start, editor):
        expect(page.get_by_role("alert")).to_have_count(1)
        expect(page.get_by_role("alert")).to_contain_text("This page continues")
        page.wait_for_timeout(1_000)  # longer than the pause before an estimate
        expect(page.get_by_role("alert")).to_have_count(1)
    port = own_site.url.rpartition(":")[2]
    more = ["--port", port, "--store", f"sqlite:///{own_site.store}"]
    with fork_web(*more, cwd=own_site.folder, log=tmp_path / "log.txt"):
        expect(start.get_by_role("alert")).to_have_count(0)
        expect(editor.get_by_role("alert")).to_contain_text("Your changes are still here: save them again.")
        editor.get_by_role("button", name="Save", exact=True).click()
        expect(editor.get_by_role("alert")).to_have_count(0)
        context.close()
    assert '"moody_2"' in (own_site.folder / "greetings.evalset.json").read_text(encoding="utf-8")
    assert problems.left() == []
