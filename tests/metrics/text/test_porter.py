"""Stems are those of NLTK's Porter stemmer in its default (extended) mode."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from proctor.metrics.text.porter import IRREGULAR, STEP_2, STEP_3, STEP_4, stem

SUFFIXES = [
    *(suffix for suffix, _ in (*STEP_2, *STEP_3)),
    *STEP_4,
    *"s es ies ied eed ed ing y e ll logi alli fulli sses at bl iz ss zz tt ying".split(),
]
ROOTS = st.text("abcdefghilmnorstuvwxyz", max_size=6) | st.text("aeybst019", max_size=4)
WORDS = st.builds("".join, st.tuples(ROOTS, *[st.sampled_from(["", *SUFFIXES])] * 3))


@pytest.fixture(scope="module")
def nltk_stem() -> Callable[[str], str]:
    porter = pytest.importorskip("nltk.stem.porter", reason="nltk, the oracle for stems, is not installed")
    stemmer: Callable[[str], str] = porter.PorterStemmer().stem
    return stemmer


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("a", "a"),
        ("is", "is"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("dies", "die"),
        ("dying", "die"),
        ("skies", "sky"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("sized", "size"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("rationally", "ration"),
        ("hopefully", "hope"),
        ("geology", "geolog"),
        ("triplicate", "triplic"),
        ("adoption", "adopt"),
        ("cease", "ceas"),
        ("controlling", "control"),
        ("2ed", "2ed"),
    ],
)
def test_words(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.nightly
@given(WORDS)
@settings(max_examples=2000)
@example("yyying")
@example("logi")
@example("sss")
def test_generated_words_stem_as_in_nltk(nltk_stem: Callable[[str], str], word: str) -> None:
    assert stem(word) == nltk_stem(word)


def test_irregular_words_stem_as_in_nltk(nltk_stem: Callable[[str], str]) -> None:
    assert {word: stem(word) for word in IRREGULAR} == {word: nltk_stem(word) for word in IRREGULAR}


@pytest.mark.slow
def test_every_word_of_the_published_eval_sets_stems_as_in_nltk(
    nltk_stem: Callable[[str], str], shared: Path
) -> None:
    words: set[str] = set()
    for path in sorted((shared / "corpus").rglob("*.json")):
        words.update(re.findall(r"[a-z0-9]{1,30}", path.read_text("utf-8", errors="replace").lower()))
    assert len(words) > 5000
    assert {word for word in words if stem(word) != nltk_stem(word)} == set()


# --- a language made of English roots and affixes --------------------------------------------------------------------

ENGLISH_ROOTS = """
    able act add age agree allow apply argue arrive ask back bake base bat beauty bed beg believe bless blow body book
    box break bring build bus buy call calm can care carry cease change charm cheap child clear close code col come
    commit connect control cook cop count cover create cry cut dance day decide defer define deny depend die digit dog
    double drop dry dye eas edit eight employ end enjoy equal err fail fair fall false fat feed fierce fil final fin
    fit fizz fly focus form free full gas gener geo get giv glad go good graph grass great grow guess hap happy hat heal
    help hesit hiss hop hope human hurry id imply infer inhibit jelly jog joke judge jump just kid kind king kiss know
    label lazy lead leaf learn leg less level lie light like lock log logic lone loose love lux mad make man marry matter
    mean measure merry mile miss mobil model modern mor move multiply myth name nation need net nod nois normal note oper
    order organ own oxid paint part pass pay peace perfect plan play plead please plot ply pon popular pray prefer press
    print probat process profit proof prove pry psych pull pure puzzl quiet quit quiz race rain rat ray real refer relat
    rely rend rent reply report rest rich rob roll rot run sad sail say schedul sens serv set shop shy sign sing size ski
    sky slow small snow soft sol spy star stat stop story straight stress stud submit suffer supply sway sympath tan tap
    teach tech tell test thin throw tie tim tool toy traff train trans traps tree trip troubl true try turn type uncl up
    use val vary veil viet voic wait wax way weigh whisk wide will win wise wolf work worry write yell yes zebra zip zoo
""".split()
PREFIXES = ["", "re", "un", "over"]
ENDINGS = """
    - s es ed ing er ers ly ness able ment ments ful less ation ations al ally ity ive ively ize ized izing ism ist ic
    ical ically icate ousness ously ence ency ently ance ancy ible ibility ator alism iveness fulness aliti ational tional
    eed eedly ying ied ies y ys e ees sses ss ll lled logy logi fulli izer bli ated ating bled bling ized ion sion tion ement
""".split()


def derived_words() -> list[str]:
    """Every root with every prefix and ending: some are English, and all have endings that the rules look at."""
    endings = [ending.strip("-") for ending in ENDINGS]
    found = (prefix + root + ending for root in ENGLISH_ROOTS for prefix in PREFIXES for ending in endings)
    return sorted(set(found))


@pytest.mark.slow
def test_derived_words_stem_as_in_nltk(nltk_stem: Callable[[str], str]) -> None:
    words = derived_words()[::20]
    assert len(words) > 3_000
    assert {word for word in words if stem(word) != nltk_stem(word)} == set()


@pytest.mark.nightly
@pytest.mark.slow
def test_all_derived_words_stem_as_in_nltk(nltk_stem: Callable[[str], str]) -> None:
    words = derived_words()
    assert len(words) > 60_000
    assert {word for word in words if stem(word) != nltk_stem(word)} == set()


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", max_size=25))
def test_stem_is_at_most_as_long_as_its_word_and_shares_its_start(word: str) -> None:
    assert len(stem(word)) <= len(word)
    assert stem(word)[:1] == word[:1]
