"""Screen 9 with a conversation of 500 turns and a message of a million characters: it stays fluent, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.editor.test_cases import Sets, saved

TURNS = 500
LONG = "a line of text, and more of it\n" * 33_000


def _turn(number: int) -> dict[str, Any]:
    return {
        "invocation_id": f"i{number}",
        "user_content": {"parts": [{"text": f"question {number}"}], "role": "user"},
        "final_response": {"parts": [{"text": "answer"}], "role": "model"},
        "intermediate_data": {"tool_uses": [{"name": "t", "args": {"k": number}}]},
    }


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with eval sets; each test writes its own."""
    folder: Path = tmp_path_factory.mktemp("large")
    return serve(folder, folder / "store.sqlite3")


@pytest.mark.nightly
@pytest.mark.slow
def test_five_hundred_turns_are_edited(page: Page, site: Site) -> None:
    sets = Sets(site, "many_turns")
    case = {"eval_id": "many", "conversation": [_turn(number) for number in range(TURNS)]}
    sets.write(case)
    page.goto(sets.case("many"))
    expect(page.get_by_role("region", name="Turn 1", exact=True)).to_be_visible()
    page.get_by_label("Tags").fill("abcde")
    expect(page.get_by_role("region", name=f"Turn {TURNS}", exact=True)).to_be_attached()
    assert page.get_by_role("textbox").count() < TURNS  # the fields of a turn come when a user wants them
    last = page.get_by_role("region", name=f"Turn {TURNS}", exact=True)
    last.scroll_into_view_if_needed()
    last.get_by_role("button", name=f"question {TURNS - 1}").click()
    last.get_by_role("textbox", name="User message", exact=True).fill("the last question")
    saved(page)
    case["conversation"][-1]["user_content"]["parts"][0]["text"] = "the last question"  # type: ignore[index]  # a list of dicts
    assert json.dumps(sets.cases()[0]) == json.dumps({**case, "tags": ["abcde"]})


@pytest.mark.nightly
@pytest.mark.slow
def test_a_message_of_a_million_characters_is_edited_in_its_own_window(page: Page, site: Site) -> None:
    sets = Sets(site, "long_message")
    case = {
        "eval_id": "long",
        "conversation": [{"user_content": {"parts": [{"text": LONG}], "role": "user"}}],
    }
    sets.write(case)
    page.goto(sets.case("long"))
    page.get_by_label("Tags").fill("x")
    saved(page)
    assert sets.cases()[0] == {**case, "tags": ["x"]}
