"""`proctor --help` and every command's --help are kept in docs/help/, so that a change of them is seen."""

import pytest

from tests.docs.help_pages import HELP, commands, help_pages


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    return help_pages()


def test_the_pages_are_what_is_printed(printed: dict[str, str]) -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in sorted(HELP.glob("*.txt"))}
    assert kept == printed, "`make reference` (python tests/docs/help_pages.py) rewrites docs/help/"


def test_the_main_commands_are_there(printed: dict[str, str]) -> None:
    assert {"eval", "check", "convert", "migrate", "metrics", "init"} <= set(commands(printed["proctor.txt"]))


def test_every_command_says_what_it_does(printed: dict[str, str]) -> None:
    silent = [name for name, text in printed.items() if len(text.strip().splitlines()) < 4]
    assert silent == []
