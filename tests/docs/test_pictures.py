"""The pictures of the README show what the commands write now."""

import re

import pytest

from tests.docs.examples.pages import ROOT
from tests.docs.pictures import PICTURE, draw, text_of

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow  # starts proctor in a terminal
def test_the_failure_is_what_the_command_writes() -> None:
    assert text_of(PICTURE.read_text(encoding="utf-8")) == text_of(draw()), "`make pictures` draws it again"


def test_the_readme_is_short() -> None:
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", README, flags=re.DOTALL)
    assert len(re.findall(r"\w[\w'-]*", prose)) <= 450


def test_at_most_six_bullets_of_twenty_words_say_what_is_different() -> None:
    section = README.partition("## Why Proctor\n")[2].partition("\n## ")[0]
    bullets = [" ".join(bullet.split()) for bullet in re.split(r"^\* ", section, flags=re.MULTILINE)[1:]]
    assert 0 < len(bullets) <= 6
    assert [bullet for bullet in bullets if len(re.findall(r"[\w%][\w'-]*", bullet)) > 20] == []
