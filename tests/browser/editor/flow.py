"""A task as a user does it: keys and clicks, which are counted, and the seconds until the answer is on the screen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


class Flow:
    """The keys and clicks of one task, from a page that is shown until `end`."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._actions: list[str] = []
        self._start = time.perf_counter()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self._actions.append(key)
            self._page.keyboard.press(key)

    def click(self, target: Locator) -> None:
        """Click what is on the screen."""
        self._actions.append("click")
        target.click()

    def end(self, task: str, at_most: int) -> None:
        """Print keys and seconds; fail if the task needed more than `at_most` keys and clicks."""
        seconds = time.perf_counter() - self._start
        print(f"{task}: {len(self._actions)} keys and clicks ({' '.join(self._actions)}), {seconds:.2f} s")
        assert len(self._actions) <= at_most, self._actions
