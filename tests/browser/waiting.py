"""Waiting for the thing itself: what a page will show and does not show yet, keys that come faster than it draws."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = TypeVar("T")
PATIENCE = 60.0  # seconds that anything may take to come: a busy machine is slow, and what never comes is red all the same


def until(page: Page, read: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    """Return what `read` finds as soon as it is right; what it found last when patience ends, for an `assert` to show.

    For what `expect` has no words for: a page that is still being drawn has not yet the sizes or texts that it will have.
    """
    end = time.monotonic() + PATIENCE
    while not is_right(found := read()) and time.monotonic() < end:
        page.wait_for_timeout(50)
    return found


def copied(page: Page, words: str) -> str:
    """Return what is in the clipboard, once those words are in it."""
    text = until(
        page, lambda: str(page.evaluate("navigator.clipboard.readText()")), lambda text: words in text
    )
    assert words in text
    return text


def stop_the_clock(page: Page) -> None:
    """What is shown for a moment stays: no timer of the page ends any more. What it reads and draws continues."""
    page.clock.install()
    page.clock.pause_at(time.time() + 3600)


def strike(page: Page, keys: str) -> None:
    """Press keys faster than any page can draw: all in a single step. `\n` is Enter.

    A key goes to what has the focus; as in a browser, a link that has it answers Enter unless a handler did.
    """
    page.evaluate(
        """(keys) => {
            for (const key of keys.map((one) => (one === "\\n" ? "Enter" : one))) {
                const target = document.activeElement ?? document.body
                const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })
                if (target.dispatchEvent(event) && key === "Enter" && target instanceof HTMLAnchorElement) target.click()
            }
        }""",
        list(keys),
    )


def too_wide(page: Page) -> int:
    """Return by how many pixels a page is wider than its window, once it is drawn for it."""
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return until(page, lambda: int(page.evaluate(over)), lambda pixels: pixels <= 0)
