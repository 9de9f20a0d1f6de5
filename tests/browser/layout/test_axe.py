"""axe on every view: the addresses that links lead to, at least one for each route, with each tab, all of it open, in light and in dark."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Problems, Site, visit, watch
from tests.browser.samples import ROOT, proctor

Look = Callable[[Page], None]

ROUTES = tuple(
    re.findall(r'\{ path: "([^"]+)"', (ROOT / "ui/src/app/routes.tsx").read_text(encoding="utf-8"))
)
A_CASE = "/history?set=bookings&case=two_turn_booking"
FROM = (
    "/runs",
    "/judges",
    "/eval-sets",
    "/audits",
    "/matrix",
    "/compare",
    "/history",
    A_CASE,
    "/start",
    "/chat",
)
MOST = 2
"""Addresses of a route that are visited: cases, runs and sets are of several kinds."""
_OPEN = "() => document.querySelectorAll('details').forEach((one) => { one.open = true })"
_LINKS = "() => [...document.querySelectorAll('main a[href^=\"/\"]')].map((one) => one.getAttribute('href'))"


def _route(address: str) -> str | None:
    path = urlsplit(address).path
    return next((one for one in ROUTES if re.fullmatch(re.sub(r":\w+", "[^/]+", one), path)), None)


def _views(page: Page) -> Iterator[tuple[str, str]]:
    """Visit addresses that links lead to; yield the route and the view that is shown, once for each tab."""
    waiting, seen, visits = list(FROM), set[str](), dict.fromkeys(ROUTES, 0)
    while waiting:
        address = waiting.pop(0)
        route, path = _route(address), urlsplit(address).path
        if route is None or (path in seen and address not in FROM) or visits[route] == MOST:
            continue
        seen.add(path)
        visits[route] += 1
        page.goto(address)
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        waiting += page.evaluate(_LINKS)
        yield route, address
        for tab in page.get_by_role("tab", selected=False).all_inner_texts():
            page.get_by_role("tab", name=tab).first.click()
            page.wait_for_load_state("networkidle")
            yield route, f"{address} {tab}"


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
def test_axe_finds_nothing_on_any_view_in_light_and_in_dark(
    browser: Browser,
    project: tuple[Path, Path],
    serve: Callable[..., Site],
    problems: Problems,
    axe: Look,
    tmp_path: Path,
) -> None:
    shutil.copytree(project[0], tmp_path / "project")
    proctor(tmp_path / "project", "audit examples/travel/bookings.evalset.json")
    site = serve(tmp_path / "project", tmp_path / "project" / project[1].relative_to(project[0]))
    page = visit(browser, site.url).new_page()
    watch(page, problems)
    visited, found = dict.fromkeys(ROUTES, 0), list[str]()
    for route, view in _views(page):
        visited[route] += 1
        page.evaluate(_OPEN)
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            try:
                axe(page)
            except AssertionError as error:
                found.append(f"{view} ({colours}): {error}")
    assert not found, "\n".join(found)
    assert [route for route, views in visited.items() if not views] == []
    assert problems.left() == []
