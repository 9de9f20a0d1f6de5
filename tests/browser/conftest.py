"""A real Chromium on a real `proctor web`: what a test finds wrong with a page without asking, and how it looks.

`PROCTOR_SHOTS=FOLDER` keeps screenshots; `PROCTOR_PAGE_DIR=FOLDER` shows another build of the page than `make ui` made.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.samples import ROOT, STORE, make_project
from tests.browser.waiting import PATIENCE, too_wide
from tests.cli.fork_command import fork_web

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

BUILT = ROOT / "src" / "proctor" / "page"
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a browser."""
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.needs_browser)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_browser") and (reason := _missing()):
        pytest.skip(reason)


def page_folder() -> Path:
    """Return the folder of the built page."""
    return Path(os.environ.get("PROCTOR_PAGE_DIR") or BUILT)


def _missing() -> str:
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    if _chromium() is None:
        return "chromium is not on PATH: apt-get install chromium"
    if not (page_folder() / "index.html").is_file():
        return "the page is not built: make ui"
    return "" if AXE.is_file() else "ui/node_modules is not filled: cd ui && npm ci"


def _chromium() -> str | None:
    # the first is the same browser without the parts that draw a window
    return (
        shutil.which("chromium-headless-shell")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )


# --- a project, and servers of it ---------------------------------------------------------------------------------------


@dataclass
class Site:
    """A server of a project's runs."""

    url: str
    folder: Path
    store: Path
    process: int

    def get(self, path: str) -> Any:
        """Return what the API answers to `path`, for a test to know what the page must show."""
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.load(answer)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """Return what starts a server: `serve(folder, store, "--token", "x")`; all of them end with the tests."""
    with ExitStack() as servers:

        def start(folder: Path, store: Path, *more: str) -> Site:
            port = _free_port()
            log = tmp_path_factory.mktemp("server") / "log.txt"
            arguments = ["--port", str(port), "--store", f"sqlite:///{store}", *more]
            process = servers.enter_context(fork_web(*arguments, cwd=folder, log=log))
            site = Site(f"http://127.0.0.1:{port}", folder, store, process)
            _wait_for(site, log)
            return site

        yield start


def _wait_for(site: Site, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(site.url + "/", timeout=5).close()
        except urllib.error.HTTPError:
            return  # it answers, if only with a no
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the server does not answer at {site.url}:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[Path, Path]:
    """A project with a run of every kind, and its store. Not to be changed: `own_site` is for that."""
    if worker_id == "master":  # the only process
        folder = tmp_path_factory.mktemp("project")
        return folder, make_project(folder)
    folder = tmp_path_factory.getbasetemp().parent / "project"
    _make_once(folder)
    return folder, folder / STORE


def _make_once(folder: Path) -> None:
    """Make the project in the first process that needs it; the others wait for it."""
    done = folder.with_name(f"{folder.name}-done")
    try:
        folder.mkdir()
    except FileExistsError:
        until = time.monotonic() + 10 * PATIENCE
        while not done.exists():
            assert time.monotonic() < until, f"another process made no project in {folder}"
            time.sleep(0.2)
    else:
        make_project(folder)
        done.touch()


@pytest.fixture(scope="session")
def site(project: tuple[Path, Path], serve: Callable[..., Site]) -> Site:
    """`proctor web` in the sample project. For tests that only look."""
    return serve(*project)


@pytest.fixture
def own_site(project: tuple[Path, Path], serve: Callable[..., Site], tmp_path: Path) -> Site:
    """`proctor web` in a copy of the sample project, for a test that changes things."""
    folder, store = project
    shutil.copytree(folder, tmp_path / "project")
    return serve(tmp_path / "project", tmp_path / "project" / store.relative_to(folder))


# --- a browser ----------------------------------------------------------------------------------------------------------

# Started for each module and not for all: while Playwright's synchronous face is up, `asyncio.run` of other tests fails.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Problems:
    """What went wrong on a page without anyone asking."""

    found: list[str] = field(default_factory=list)
    _expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Take what fits `pattern` (searched) as part of the test: `expect("404")`."""
        self._expected.append(pattern)

    def left(self) -> list[str]:
        """Return what no one expected."""
        return [one for one in self.found if not any(re.search(pattern, one) for pattern in self._expected)]


@pytest.fixture
def problems() -> Problems:
    """What went wrong on `page`: console errors, exceptions, violations of the CSP, requests to elsewhere, 5xx."""
    return Problems()


def visit(browser: Browser, url: str | None, **how: Any) -> BrowserContext:
    """Return a new visitor, 1,280 pixels wide by default, who waits as long as all tests do."""
    context = browser.new_context(base_url=url, **({"viewport": WIDE} | how))
    context.set_default_timeout(PATIENCE * 1000)
    return context


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """One visitor, 1,280 pixels wide, in light colours."""
    context = visit(browser, site.url, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, problems: Problems) -> Iterator[Page]:
    """A page of `site`. The test fails when anything went wrong on it that it did not expect."""
    page = context.new_page()
    watch(page, problems)
    yield page
    assert problems.left() == []


_REPORT_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
    console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`))"""


def watch(page: Page, problems: Problems) -> None:
    """Write down what goes wrong on `page`."""
    page.add_init_script(_REPORT_VIOLATIONS)
    page.on("console", lambda message: _reported(problems, message.type, message.text))
    page.on("pageerror", lambda error: problems.found.append(f"exception: {error}"))
    page.on("request", lambda request: _off_origin(problems, page, request.url))
    page.on("response", lambda answer: _broken(problems, answer.status, answer.url))


def _reported(problems: Problems, kind: str, text: str) -> None:
    if kind in {"error", "warning"}:
        problems.found.append(f"console {kind}: {text}")


def _off_origin(problems: Problems, page: Page, url: str) -> None:
    allowed = ("http://127.0.0.1:", "data:", "blob:", "file:")
    if not url.startswith(allowed):
        problems.found.append(f"request to elsewhere: {url} from {page.url}")


def _broken(problems: Problems, status: int, url: str) -> None:
    if status >= 500:
        problems.found.append(f"answered {status}: {url}")


# --- what every screen is asked -----------------------------------------------------------------------------------------


_AT_THE_TOP = """async (rules) => {
    const y = scrollY;
    scrollTo(0, 0);  // further down, the head of the page covers a part of a target, which axe takes for a small one
    const found = await axe.run(document, {
        runOnly: rules, rules: { "empty-table-header": { enabled: true } }, resultTypes: ["violations"],
    });
    scrollTo(0, y);
    return found;
}"""


@pytest.fixture
def axe() -> Callable[[Page], None]:
    """Fail when axe finds anything of WCAG 2 A or AA, or of its best practices, on a page: `axe(page)`."""
    source = AXE.read_text(encoding="utf-8")

    def check(page: Page) -> None:
        page.evaluate(source)
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = page.evaluate(_AT_THE_TOP, rules)
        violations = [_text_of(one) for one in found["violations"]]
        assert not violations, "\n".join(violations)

    return check


def _text_of(violation: dict[str, Any]) -> str:
    where = [
        f"{node['target']} {node['html'][:160]} {node['failureSummary']}" for node in violation["nodes"][:3]
    ]
    return f"{violation['id']}: {violation['help']}: {' | '.join(where)}"


@pytest.fixture
def shot() -> Callable[[Page, str], None]:
    """Keep how a page looks, light, dark and narrow, where PROCTOR_SHOTS names a folder: `shot(page, "runs")`."""
    folder = os.environ.get("PROCTOR_SHOTS")

    def keep(page: Page, name: str) -> None:
        if not folder:
            return
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}-light.png", full_page=True)
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=f"{folder}/{name}-dark.png", full_page=True)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
        page.screenshot(path=f"{folder}/{name}-narrow.png", full_page=True)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # a dict of numbers is what it takes

    return keep


@pytest.fixture
def fits() -> Callable[[Page], None]:
    """Fail when a page is wider than its window, here and at 390 pixels: `fits(page)`."""

    def check(page: Page) -> None:
        for size in (NARROW, WIDE):
            page.set_viewport_size(size)  # type: ignore[arg-type]  # a dict of numbers is what it takes
            assert too_wide(page) <= 0, f"at {size['width']} pixels: {page.url}"

    return check
