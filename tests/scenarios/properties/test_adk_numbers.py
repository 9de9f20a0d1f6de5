"""With `compat="adk"` the numbers are those of google-adk's rules, implemented again here from their description.

Nothing of `proctor.metrics` is used: calls are compared by trying every way to place them, and words are counted over
a tokenizer written down from the definition, with nltk's own stemmer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from tests.scenarios.properties.generated_conversations import Call, Json, values

# Few names and arguments: that equal calls are frequent is the point.
few_values = st.sampled_from([1, 1.0, True, "1", None, [1, 2], [2, 1], {"a": 1}]) | values
few_args = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), few_values, max_size=2)
few_calls: st.SearchStrategy[Call] = st.tuples(st.sampled_from(["f", "g"]), few_args)
few_words = st.lists(
    st.sampled_from(
        ["run", "running", "runs", "the", "The", "ＴＨＥ", "it's", "no.1", "21°", "東京", "です", "สวัสดี", "ไทย123", "naïve", "👍", "?!", "\u0301", "한국"]
    ),
    max_size=6,
).map(" ".join)  # fmt: skip
any_text = few_words | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[list[Call] | None, list[Call], list[str], list[str]]]:
    """Per turn: expected calls (`None`: not stated), actual calls, the parts of both texts."""
    parts = st.lists(any_text, max_size=2)
    return [
        (
            draw(st.none() | st.lists(few_calls, max_size=4)),
            draw(st.lists(few_calls, max_size=5)),
            draw(parts),
            draw(parts),
        )
        for _ in range(draw(st.integers(1, 4)))
    ]


def invocation(calls: Sequence[Call] | None, parts: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"user_content": {"parts": [{"text": "q"}]}}
    if calls is not None:
        made["intermediate_data"] = {"tool_uses": [{"name": name, "args": args} for name, args in calls]}
    if parts:
        made["final_response"] = {"role": "model", "parts": [{"text": part} for part in parts]}
    return made


# --- the rules, implemented again ---------------------------------------------------------------------------------------------


def exact(expected: Sequence[Call], actual: Sequence[Call]) -> bool:
    return list(expected) == list(actual)


def in_order(expected: Sequence[Call], actual: Sequence[Call]) -> bool:
    return any(list(some) == list(expected) for some in combinations(actual, len(expected)))


def any_order(expected: Sequence[Call], actual: Sequence[Call]) -> bool:
    return any(list(some) == list(expected) for some in permutations(actual, len(expected)))


RULES = {"EXACT": exact, "IN_ORDER": in_order, "ANY_ORDER": any_order}


@cache
def stem(word: str) -> str:
    from nltk.stem.porter import PorterStemmer  # imports scipy: not while the tests are collected

    return str(PorterStemmer().stem(word))


_OWN_TOKEN = [(0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF)]
_UNSPACED = [(0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F)]


def _within(character: str, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)


def words(text: str) -> list[str]:
    spaced = ""
    for character in unicodedata.normalize("NFKC", text).lower():
        is_mark = unicodedata.category(character).startswith("M")
        if _within(character, _OWN_TOKEN):
            spaced += f" {character} "
        elif _within(character, _UNSPACED) and not is_mark:
            spaced += f" {character}"
        elif character.isalnum() or is_mark:
            spaced += character
        else:
            spaced += " "
    found: list[str] = []
    for word in spaced.split():
        if word.isascii():
            pieces = re.sub("[^a-z0-9]+", " ", word).split()
            found += [stem(piece) if len(piece) > 3 else piece for piece in pieces]
        else:
            found.append(word)
    return found


def rouge(reference: str, candidate: str) -> float:
    wanted, made = Counter(words(reference)), Counter(words(candidate))
    overlap = sum(min(count, made[word]) for word, count in wanted.items())
    precision = overlap / max(sum(made.values()), 1)
    recall = overlap / max(sum(wanted.values()), 1)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# --- and compared ------------------------------------------------------------------------------------------------------


def scores(conversation: list[Any], name: str, **criterion: Json) -> tuple[float | None, list[float | None]]:
    actual = [invocation(calls, parts) for _, calls, _, parts in conversation]
    expected = [invocation(calls, parts) for calls, _, parts, _ in conversation]
    criteria = {name: {"threshold": 1.0, "compat": "adk", **criterion}}
    verdict = proctor.score_sync(actual, expected, criteria=criteria)[name]
    status = "PASSED" if verdict.score is not None and verdict.score >= 1.0 else "FAILED"
    assert verdict.status.name == status
    return verdict.score, [each.score for each in verdict.per_invocation]


def close(ours: float | None, theirs: float) -> bool:
    return ours is not None and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.slow
@given(conversations(), st.sampled_from(sorted(RULES)), st.booleans())
def test_trajectories(conversation: list[Any], match_type: str, ignore_args: bool) -> None:
    def seen(calls: Sequence[Call] | None) -> list[Any]:
        return [(name, None if ignore_args else args) for name, args in calls or []]

    theirs = [float(RULES[match_type](seen(wanted), seen(made))) for wanted, made, _, _ in conversation]
    overall, turns = scores(
        conversation, "tool_trajectory_avg_score", match_type=match_type, ignore_args=ignore_args
    )
    assert turns == theirs
    assert close(overall, sum(theirs) / len(theirs))


@pytest.mark.slow
@given(conversations())
def test_texts(conversation: list[Any]) -> None:
    theirs = [rouge("\n".join(wanted), "\n".join(made)) for _, _, wanted, made in conversation]
    overall, turns = scores(conversation, "response_match_score")
    assert len(turns) == len(theirs)
    assert all(map(close, turns, theirs))
    assert close(overall, sum(theirs) / len(theirs))


def test_reimplemented_rules_agree_with_the_recording() -> None:
    """A few recorded facts, so that both sides cannot be wrong in the same way."""
    f, g = ("f", {"x": 1}), ("g", None)
    assert exact([f], [("f", {"x": True})])
    assert not exact([("g", {})], [g])
    assert in_order([], [f])
    assert not in_order([f, g], [g, f])
    assert any_order([f, g], [g, g, f])
    assert not any_order([f, f], [f, g])
    assert words("ไทย123 東京 Running!") == ["ไ", "ท", "ย123", "東", "京", "run"]
    assert (rouge("", ""), rouge("👍", "👍"), rouge("a b", "b a")) == (0.0, 0.0, 1.0)
