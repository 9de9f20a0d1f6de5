"""Text that a terminal would obey, or a reader could not see, becomes visible."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from proctor.common.safe_text import (
    cells,
    clean,
    clean_json,
    count_text,
    encodable,
    has_lone_surrogate,
    shorten,
)

ESC = "\x1b"
SEEN = {
    "colour": (f"{ESC}[31mred{ESC}[0m", r"\x1b[31mred\x1b[0m"),
    "title": (f"{ESC}]0;owned\x07", r"\x1b]0;owned\x07"),
    "clipboard": (f"{ESC}]52;c;cm0gLXJm\x07", r"\x1b]52;c;cm0gLXJm\x07"),
    "hyperlink": (f"{ESC}]8;;http://x\x1b\\text", r"\x1b]8;;http://x\x1b\text"),
    "device control string": (f"{ESC}P$q\x1b\\", "\\x1bP$q\\x1b\\"),
    "reset": (f"{ESC}c", r"\x1bc"),
    "CSI in one character": ("\x9b2J", r"\x9b2J"),
    "OSC in one character": ("\x9d0;t\x9c", r"\x9d0;t\x9c"),
    "carriage return": ("passed\rfailed", r"passed\rfailed"),
    "backspace": ("bad\b\b\bgood", r"bad\x08\x08\x08good"),
    "bell": ("\x07", r"\x07"),
    "delete": ("\x7f", r"\x7f"),
    "NUL": ("a\0b", r"a\x00b"),
    "direction override": ("user\u202egnp.exe", r"user\u202egnp.exe"),
    "isolate": ("\u2066a\u2069", r"\u2066a\u2069"),
    "no width": ("pass\u200bed", r"pass\u200bed"),
    "byte order mark": ("\ufeffa", r"\ufeffa"),
    "tag": ("a\U000e0041", r"a\U000e0041"),
    "line separator": ("a\u2028b", r"a\u2028b"),
    "lone surrogate": ("a\ud800b", r"a\ud800b"),
    "filler": ("\u3164", r"\u3164"),
    "joiner between Latin letters": ("pass\u200ded", r"pass\u200ded"),
    "joiner at an end": ("\U0001f469\u200d", "\U0001f469\\u200d"),
    "non-joiner between emoji": ("\U0001f469\u200c\U0001f467", "\U0001f469\\u200c\U0001f467"),
}
UNTOUCHED = [
    "",
    "plain",
    "Ciao, però!",
    "日本語のテキスト",
    "مرحبا",
    "🍕❤️",
    "a \\x1b b",
    "=1+1",
    "̈x",
]

ANY_TEXT = st.text(st.characters(), max_size=80)  # surrogates included


@pytest.mark.parametrize(("text", "seen"), SEEN.values(), ids=SEEN)
def test_is_shown_as(text: str, seen: str) -> None:
    assert clean(text) == seen


@pytest.mark.parametrize("text", UNTOUCHED)
def test_harmless_text_is_the_same_object(text: str) -> None:
    assert clean(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧",
        "❤️\u200d🔥",
        "می\u200cخواهم",
        "क्\u200dष",
    ],
)
def test_a_joiner_inside_an_emoji_or_a_word_is_kept(text: str) -> None:
    assert clean(f"a {text} b") == f"a {text} b"


def test_newlines_and_tabs_stay_only_where_lines_are_wanted() -> None:
    assert clean("a\n\tb\r") == r"a\n\tb\r"
    assert clean("a\n\tb\r", lines=True) == "a\n\tb\\r"


@given(ANY_TEXT, st.booleans())
def test_nothing_unsafe_is_left(text: str, lines: bool) -> None:
    cleaned = clean(text, lines=lines)
    left = {unicodedata.category(c) for c in cleaned.replace("\n", "").replace("\t", "")}
    assert not left & {"Cc", "Cs", "Zl", "Zp"}
    assert lines or not set("\n\t") & set(cleaned)
    assert not {
        c
        for c in cleaned
        if unicodedata.bidirectional(c) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    }
    cleaned.encode("utf-8")


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_every_character_of_the_basic_plane_that_acts_is_escaped() -> None:
    acting = [chr(n) for n in range(0x10000) if unicodedata.category(chr(n)) in {"Cc", "Cs", "Zl", "Zp"}]
    assert [c for c in acting if clean(c) == c] == []
    invisible = [chr(n) for n in (*range(0x200B, 0x2010), *range(0x2060, 0x2070), 0xAD, 0xFEFF, 0x61C)]
    assert [c for c in invisible if clean(c) == c] == []


# --- JSON --------------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_cleaned_json_means_the_same(text: str) -> None:
    import json

    cleaned = clean_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(cleaned) == text
    assert clean(cleaned) == cleaned


def test_half_a_character_in_json_is_replaced() -> None:
    assert clean_json('"a\ud800b"') == '"a\ufffdb"'
    assert has_lone_surrogate("a\ud800")
    assert not has_lone_surrogate("a🍕")


# --- width -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("a long text", 7, "a long…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("é" * 5, 5, "é" * 5),
        ("e\u0301" * 5, 5, "e\u0301" * 5),
        ("anything", 0, ""),
        ("anything", 1, "…"),
    ],
)
def test_shorten(text: str, width: int, shown: str) -> None:
    assert shorten(text, width) == shown


def test_a_mark_wider_than_the_room_is_cut_itself() -> None:
    assert shorten("anything", 2, mark="...") == ".."


@given(st.text(max_size=40), st.integers(0, 30))
def test_shortened_text_fits_and_is_a_beginning(text: str, width: int) -> None:
    short = shorten(text, width)
    assert cells(short) <= width
    assert short == text or text.startswith(short.removesuffix("…"))


def test_only_what_is_shown_of_a_long_text_is_read() -> None:
    class Counted(str):
        __slots__ = ()
        read = 0

        def __iter__(self):  # type: ignore[no-untyped-def] # counts the items read, of any type
            for character in super().__iter__():
                Counted.read += 1
                yield character

    shorten(Counted("é" * 100_000), 10)
    assert Counted.read <= 12


# --- encodings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "è ✓"),
        ("latin-1", "è \\u2713"),
        ("ascii", "\\xe8 \\u2713"),
        ("no-such-encoding", "\\xe8 \\u2713"),
        (None, "è ✓"),
    ],
)
def test_what_an_encoding_cannot_write_is_escaped(encoding: str | None, shown: str) -> None:
    assert encodable("è ✓", encoding) == shown


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1200, "1,200 cases")]
)
def test_a_number_has_its_noun(number: int, shown: str) -> None:
    assert count_text(number, "case") == shown
