"""Words of any script, as a writer would count them (or its clusters, in scripts without words)."""

import json
import re
import sys
import time
from functools import lru_cache
from pathlib import Path
from unicodedata import category, name, normalize

import pytest
from hypothesis import given, strategies as st

from proctor.metrics.text import rouge, unicode_words as module
from proctor.metrics.text.unicode_words import kinds, unicode_tokens, unicode_words, without_accents

ASCII = st.text(st.characters(max_codepoint=127), max_size=60)
ANYTHING = st.text(max_size=40)
# What people write: letters and marks of many scripts, digits, emoji and their joiners, blanks.
WRITTEN = st.text(
    st.sampled_from(
        [
            *"aé1٣ß ไทยน้ำກ່ກຳភ្នំမြန်ကဘ東京𠮷かカー한क्षि אבגּ״كِتـ",
            "\u200d",
            "\u0301",
            "👍",
            "🏽",
            "🇩",
            "🇪",
            "❤",
            "\ufe0f",
            " ",
        ]
    ),
    max_size=24,
)


def words(text: str) -> str:
    """The words, separated by bars: rows of a table read better so."""
    return "|".join(unicode_words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Thai: a cluster is a consonant with its leading vowel, vowels and tones; digits and Latin are separate
        pytest.param("ไทย", "ไท|ย", id="Thai, a leading vowel belongs to its consonant"),
        pytest.param("น้ำ", "น้ำ", id="Thai, SARA AM is one letter"),
        pytest.param("น้ํา", "น้ำ", id="Thai, SARA AM taken apart is the same letter"),
        pytest.param("ไทย123", "ไท|ย|123", id="Thai before digits"),
        pytest.param("ไทยabc", "ไท|ย|abc", id="Thai before Latin"),
        pytest.param("ราคา ๑๒๓ บาท", "รา|คา|123|บา|ท", id="Thai digits"),
        pytest.param("เร็วๆ", "เร็|ว|ๆ", id="Thai, the sign of repetition is separate"),
        pytest.param("เร็ว ๆ", "เร็|ว|ๆ", id="Thai, with the blank that many write before it"),
        pytest.param("กรุงเทพฯ", "ก|รุ|ง|เท|พ|ฯ", id="Thai, the sign of abbreviation"),
        pytest.param("ฝน\u200bตก", "ฝ|น|ต|ก", id="Thai, a space of zero width"),
        pytest.param("เ", "เ", id="Thai, a leading vowel without consonant"),
        # Lao, Khmer, Myanmar
        pytest.param("ສະບາຍດີ", "ສະ|ບາ|ຍ|ດີ", id="Lao"),
        pytest.param("ດຳ", "ດຳ", id="Lao, AM is one letter"),
        pytest.param("ດໍາ", "ດຳ", id="Lao, AM taken apart"),
        pytest.param("ນ້ຳ໑໒", "ນ້ຳ|12", id="Lao digits"),
        pytest.param("ភ្នំពេញ", "ភ្នំ|ពេ|ញ", id="Khmer, a consonant below belongs to the one above"),
        pytest.param("ស្ត្រី", "ស្ត្រី", id="Khmer, two below"),
        pytest.param("២០២៤", "2024", id="Khmer digits"),
        pytest.param("မြန်မာ", "မြန်|မာ", id="Myanmar, a killed consonant ends the syllable before it"),
        pytest.param("အင်္ဂလိပ်", "အ|င်္ဂ|လိပ်", id="Myanmar, kinzi"),
        pytest.param("ဗုဒ္ဓ", "ဗု|ဒ္ဓ", id="Myanmar, stacked"),
        # Chinese, Japanese, Korean: a character is a word
        pytest.param("東京は雨", "東|京|は|雨", id="Japanese"),
        pytest.param("東京2024年", "東|京|2024|年", id="digits among ideographs"),
        pytest.param("𠮷野家", "𠮷|野|家", id="ideograph of extension B"),
        pytest.param("㐀㐁", "㐀|㐁", id="extension A"),
        pytest.param("\U000300a1\U00031350", "\U000300a1|\U00031350", id="extensions G and H, unknown to older Pythons"),
        pytest.param("\uf900", "豈", id="a compatibility ideograph is the ideograph"),
        pytest.param("コーヒー", "コー|ヒー", id="a prolonged sound stays with its kana"),
        pytest.param("ｺｰﾋｰ ｶﾞ", "コー|ヒー|ガ", id="half-width kana"),
        pytest.param("か\u3099", "が", id="a voiced mark that is written apart"),
        pytest.param("人々〇", "人|々|〇", id="iteration mark and zero"),
        pytest.param("你好，世界。", "你|好|世|界", id="Chinese punctuation"),
        pytest.param("한국어를", "한|국|어|를", id="Hangul by syllable, so that particles do not hide a word"),
        pytest.param("한국", "한|국", id="Hangul in letters (jamo)"),
        # Latin, Greek, Cyrillic
        pytest.param("Café nai\u0308ve", "café|naïve", id="accents, composed or not"),
        pytest.param("don’t L’été", "don|t|l|été", id="apostrophes separate, as in ASCII"),
        pytest.param("Straße STRASSE", "strasse|strasse", id="sharp s"),
        pytest.param("ΣΊΣΥΦΟΣ Σίσυφος", "σίσυφοσ|σίσυφοσ", id="final sigma"),
        pytest.param("İstanbul", "istanbul", id="capital i with a dot"),
        pytest.param("ﬁne", "fine", id="a ligature"),
        pytest.param("Ｆｕｌｌ　ｗｉｄｔｈ", "full|width", id="full width"),
        pytest.param("co\u00adoperate", "cooperate", id="soft hyphen"),
        pytest.param("Привет, мир!", "привет|мир", id="Cyrillic"),
        pytest.param("tiếng Việt", "tiếng|việt", id="Vietnamese, two marks on a letter"),
        # Arabic, Persian, Hebrew
        pytest.param("كِتَابٌ", "كتاب", id="Arabic, vowel points"),
        pytest.param("كتـــاب", "كتاب", id="Arabic, kashida"),
        pytest.param("آب", "آب", id="Arabic, alef with madda taken apart"),
        pytest.param("ﻛﺘﺎﺏ", "كتاب", id="Arabic, presentation forms"),
        pytest.param("می\u200cخواهم", "میخواهم", id="Persian, zero-width non-joiner"),
        pytest.param("١٢٣ ۱۲۳", "123|123", id="Arabic and Persian digits"),
        pytest.param("שָׁלוֹם", "שלום", id="Hebrew, points"),
        pytest.param("\ufb2aלום", "שלום", id="Hebrew, a letter that has its point in it"),
        pytest.param('צה"ל צה״ל', "צהל|צהל", id="Hebrew abbreviations, typed or typeset"),
        pytest.param('"שלום"', "שלום", id="Hebrew in quotes"),
        pytest.param("\u200fשלום\u200e", "שלום", id="marks of direction"),
        # Indic scripts, Tibetan, Ethiopic: words with blanks or signs between them
        pytest.param("हिन्दी भाषा १२३", "हिन्दी|भाषा|123", id="Devanagari"),
        pytest.param("தமிழ் மொழி", "தமிழ்|மொழி", id="Tamil"),
        pytest.param("বাংলা", "বাংলা", id="Bengali"),
        pytest.param("क्\u200dष", "क्ष", id="a joiner within a word"),
        pytest.param("a\u200d\u0301", "á", id="a joiner between a letter and its accent"),
        pytest.param("བོད་སྐད", "བོད|སྐད", id="Tibetan"),
        pytest.param("ሰላም፡ዓለም", "ሰላም|ዓለም", id="Ethiopic"),
        # Digits, numbers and signs
        pytest.param("x² x2 ½", "x²|x2|½", id="a superscript is not a digit"),
        pytest.param("𝟏𝟐 １２", "12|12", id="mathematical and full-width digits"),
        pytest.param("5 € 21°C", "5|21|c", id="signs separate"),
        pytest.param("a_b x=1", "a|b|x|1", id="so do those of programs"),
        # Emoji
        pytest.param("👍👎", "👍|👎", id="emoji are words"),
        pytest.param("👍🏽", "👍🏽", id="with its skin tone"),
        pytest.param("👨‍👩‍👧", "👨\u200d👩\u200d👧", id="a family is one"),
        pytest.param("🇩🇪🇫🇷", "🇩🇪|🇫🇷", id="flags"),
        pytest.param("❤️ ❤", "❤|❤", id="drawn in colour or not"),
        pytest.param("⌚⌛⏩⏺⬅⭕☀➿🀀🫸", "⌚|⌛|⏩|⏺|⬅|⭕|☀|➿|🀀|🫸", id="from first to last of their blocks"),
        pytest.param("→ │ ■ ∑ ©", "", id="arrows, lines, shapes and signs are none"),
        pytest.param("ᦵᦂᦸ", "ᦵᦂᦸ", id="New Tai Lue, vowels are letters before and after their consonant"),
        pytest.param("ok✅no❌", "ok|✅|no|❌", id="signs that mean yes and no"),
        pytest.param("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", id="a flag named by tags"),
        pytest.param("\U0001fae8", "\U0001fae8", id="an emoji that older Pythons do not know"),
        # Nothing
        pytest.param("", "", id="empty"),
        pytest.param("…—“”、。！", "", id="only punctuation"),
        pytest.param("\u0301", "", id="a mark without anything below it"),
    ],
)  # fmt: skip
def test_words(text: str, expected: str) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The Dogs are running.", ["the", "dog", "are", "run"]),
        ("Dogs 東京 naïvely", ["dog", "東", "京", "naïvely"]),  # only ASCII words are taken for English
        ("cafés", ["cafés"]),
    ],
)
def test_english_words_are_compared_by_their_stems(text: str, tokens: list[str]) -> None:
    assert unicode_tokens(text) == tokens


def test_stems_can_be_left_out() -> None:
    assert unicode_tokens("Dogs running, 東京", stem=False) == ["dogs", "running", "東", "京"]


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("café Ångström naïve", "cafe Angstrom naive"),
        ("Ёлка йод", "Елка иод"),
        ("Ελληνικά", "Ελληνικα"),
        ("tiếng Việt", "tieng Viet"),
        ("ほげ か\u3099 น้ำ हिन्दी", "ほげ が น้ำ हिन्दी"),  # marks that are no accents
        ("ø ß đ", "ø ß đ"),  # distinct letters
    ],
)
def test_accents_can_be_left_out(text: str, without: str) -> None:
    assert without_accents(text) == without


def test_words_without_accents() -> None:
    assert unicode_tokens("Les Cafés, tiếng", ignore_accents=True) == ["les", "cafe", "tieng"]


@given(ASCII)
def test_plain_ascii_has_the_words_of_rouge_score(text: str) -> None:
    assert unicode_words(text) == rouge.words(text)
    assert unicode_tokens(text) == rouge.tokenize(text)


@given(ASCII)
def test_ascii_words_are_the_same_among_other_scripts(text: str) -> None:
    assert unicode_words(f"{text} 東")[:-1] == rouge.words(text)


@given(WRITTEN | ANYTHING)
def test_words_are_never_empty_and_have_no_blanks(text: str) -> None:
    assert all(word and not word.isspace() and " " not in word for word in unicode_words(text))
    assert len(unicode_tokens(text)) == len(unicode_words(text))


@given(WRITTEN | ANYTHING)
def test_canonically_equal_texts_have_the_same_words(text: str) -> None:
    assert (
        unicode_words(normalize("NFD", text)) == unicode_words(normalize("NFC", text)) == unicode_words(text)
    )


@given(WRITTEN)
def test_words_are_complete_words(text: str) -> None:
    found = unicode_words(text)
    assert unicode_words(" ".join(found)) == found


@given(WRITTEN, WRITTEN)
def test_a_blank_separates(one: str, other: str) -> None:
    assert unicode_words(f"{one} {other}") == unicode_words(one) + unicode_words(other)


@given(WRITTEN | ANYTHING)
def test_every_character_has_one_kind(text: str) -> None:
    assert len(kinds(text)) == len(text)
    assert set(kinds(text)) <= set("lhdmcoexrzqtpfvk ")


# The kinds of letters by the first words of their names in Unicode; all others are letters of scripts with blanks.
KINDS_BY_NAME = {
    "c": "HIRAGANA|KATAKANA (?:LETTER|DIGRAPH|ITERATION|VOICED)|HENTAIGANA|CJK|HANGUL SYLLABLE|BOPOMOFO|YI SYLLABLE|TANGUT"
    "|NUSHU|KHITAN|IDEOGRAPHIC|VERTICAL IDEOGRAPHIC|OLD CHINESE ITERATION",
    "o": "KATAKANA-HIRAGANA PROLONGED",
    "tpfc": "THAI|LAO|KHMER|MYANMAR|TAI LE|NEW TAI LUE|TAI THAM|TAI VIET",
    "h": "HEBREW",
}
NAMED = re.compile("|".join(f"(?P<{letters}>{names})" for letters, names in KINDS_BY_NAME.items()))


@pytest.mark.slow
def test_every_letter_of_unicode_has_the_kind_of_its_script() -> None:
    odd = []
    for code in range(0x80, sys.maxunicode + 1):
        letter = chr(code)
        called = name(letter, "")
        if not called or not category(letter).startswith("L") or normalize("NFKC", letter) != letter:
            continue  # what is folded into other letters has their kinds
        found = NAMED.match(called)
        expected = (found and found.lastgroup) or "l"
        if kinds(letter) not in expected:
            odd.append(f"{code:04X} {called}: {kinds(letter)}, not {expected}")
    assert odd == []


def test_every_letter_and_digit_of_the_recorded_texts_is_in_some_word(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "rouge_pairs.json").read_text("utf-8"))["vectors"]
    texts = {text for vector in vectors for text in (vector["reference"], vector["candidate"])}
    assert len(texts) > 200
    for text in texts:
        if any(character.isalnum() for character in text):
            assert unicode_words(text), text


def test_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = {
        function: lru_cache(10)(getattr(module, function).__wrapped__) for function in ("_kind", "_fold")
    }
    for function, cache in caches.items():
        assert getattr(module, function).cache_info().maxsize == module.REMEMBERED
        monkeypatch.setattr(module, function, cache)
    texts = [f"é{chr(0x4E00 + number)}" for number in range(100)]
    first = [unicode_words(text) for text in texts]
    assert all(0 < cache.cache_info().currsize <= 10 for cache in caches.values())
    assert [unicode_words(text) for text in texts] == first


@pytest.mark.parametrize(
    "piece",
    [
        "เ",
        "ก",
        "กั",
        "ၤ",
        "က်",
        "က္",
        "က ္",
        "\u0301",
        "\u200d",
        'א"',
        "a'",
        "👍\u200d",
        "🇩",
        "👍🏽",
        "一",
        "ー",
        "é",
        "١",
    ],
)
def test_long_texts_are_read_in_time(piece: str) -> None:
    started = time.process_time()
    unicode_words("é" + piece * 30_000)
    assert time.process_time() - started < 3
