"""Values and names in reasons are readable, and show what cannot be seen."""

import pytest

from proctor.metrics.reason_text import show_name, show_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("می\u200cخواهم", '"می\u200cخواهم"'),
        ("👨\u200d👩\u200d👧", '"👨\u200d👩\u200d👧"'),
        ("pass\u200dword", '"pass\\u200dword"'),
        ("a\u200bb", '"a\\u200bb"'),
        ("a\u202eb", '"a\\u202eb"'),
    ],
    ids=["Persian word", "emoji", "joiner in Latin letters", "no width", "direction"],
)
def test_joiners_of_words_and_emoji_are_kept_and_other_unseen_characters_escaped(
    value: str, text: str
) -> None:
    assert show_value(value) == text
    assert show_name(value) == text.strip('"')
