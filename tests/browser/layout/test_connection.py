"""Every page reports a server that does not respond, also one on which nobody presses anything, until it responds again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

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
