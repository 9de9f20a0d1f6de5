"""W9, the browser's side: how soon a run of many cases is painted, and how long a filter of its table takes.

    python -m benchmarks.web_page FOLDER CASES      serves a run of so many cases in FOLDER to a Chromium, and prints the figures

First paint: from the navigation until the first rows of the table are drawn, in a browser that has nothing of the page; the
server has loaded nothing yet. A filter: from the last key until the frame in which the table shows what it found, the
page's own pause between keys included. Heap: what remains after a collection. The first two are measured in the page by its own clock.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import compare

if TYPE_CHECKING:
    from playwright.sync_api import Page

FILTERS = ("outcome:failed", "case_1", "outcome:passed or flaky", "not outcome:passed", "passed<1")
_PAINTED = """() => new Promise((done) => {
    const drawn = () => document.querySelectorAll('[role=table][aria-label=Cases] [role=row]').length > 5;
    const look = () => drawn() ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
    look();
})"""
_FILTERED = """(text) => new Promise((done) => {
    const box = document.querySelector('input[aria-label="Filter cases"]');
    const count = () => document.querySelector('[role=search] [role=status]').textContent.match(/^[0-9,]+ of/)?.[0];
    const before = count();
    const began = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, text);
    box.dispatchEvent(new Event('input', { bubbles: true }));
    const look = () => count() && count() !== before
        ? requestAnimationFrame(() => done(performance.now() - began))
        : performance.now() - began > 5000 ? done(-1) : requestAnimationFrame(look);
    look();
})"""
"""The status is a count only while nothing is being read."""
_COMPLETE = "/case-extras"
"""The last part of a run that the page reads. The network may be idle before: between the first rows and the others."""


def measured(store: Path, run: str = "latest") -> dict[str, float]:
    """Return seconds until the first paint of a run, milliseconds of each filter, and megabytes that the page then holds."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with _served(store) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        with page.expect_response(lambda response: _COMPLETE in response.url, timeout=120_000) as last:
            page.goto(f"{url}/runs/{run}", wait_until="commit")
            found = {"first paint, s": page.evaluate(_PAINTED) / 1000}
        last.value.finished()
        page.wait_for_timeout(1000)
        found |= {f"filter {text}, ms": took for text, took in _filters(page)}
        found["heap, MB"] = _heap(page)
        browser.close()
    return found


def _filters(page: Page) -> Iterator[tuple[str, float]]:
    for text in FILTERS:
        took = []
        for _ in range(3):
            took.append(_filter(page, text))
            _filter(page, "")
        yield text, statistics.median(took)


def _filter(page: Page, text: str) -> float:
    """Return the milliseconds until the table shows what a filter takes."""
    milliseconds = float(page.evaluate(_FILTERED, text))
    if milliseconds < 0:
        sys.exit(f"filter {text!r}: the number of cases did not change; name one that takes some of them")
    return milliseconds


def _heap(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


@contextmanager
def _served(store: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", "web", "--port", "0", "--store", str(store)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=store.parent,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[3].rstrip("/")
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, cases]:
            for what, figure in measured(compare.keep(Path(folder), int(cases))).items():
                print(f"{what:40} {figure:10.2f}")
        case _:
            sys.exit(__doc__)
