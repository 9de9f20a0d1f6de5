"""`regex_match`, the time limit of regular expressions, and patterns that match every text or none."""

import re
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError, MetricError
from proctor.metrics.text.regex import search, trivial_patterns
from proctor.metrics.text.regex.regex_match import NO_TEXT_TO_SEARCH
from proctor.metrics.text.regex.search import Search, search_texts
from proctor.metrics.text.regex.trivial_patterns import (
    ALWAYS,
    NEVER,
    WHOLE,
    finds_always,
    finds_nothing,
    trivial_pattern_problem,
)
from proctor.schema.format.case import EvalCase
from tests.metrics.text.text_scores import case_of, conversation, explanation, metric, reason, scored, value


@pytest.mark.parametrize(
    ("pattern", "answer", "options", "score"),
    [
        (r"\d+", "room 42", {}, 1.0),
        (r"\d+", "no room", {}, 0.0),
        (r"\d+", "room 42", {"match": "full"}, 0.0),
        (r"room \d+", " room 42\n", {"match": "full"}, 1.0),
        (r"ROOM", "room 42", {}, 0.0),
        (r"ROOM", "room 42", {"ignore_case": True}, 1.0),
        (r"(?i)ROOM", "room 42", {}, 1.0),
        (r"a b", "a\n  b", {}, 0.0),
        (r"a b", "a\n  b", {"ignore_whitespace": True}, 1.0),
        (r"^b$", "a\nb", {}, 0.0),
        (r"(?m)^b$", "a\nb", {}, 1.0),
        (r"caf\w", "cafe\u0301", {}, 1.0),  # é is one letter, however it is written
        ("cafe\u0301", "café", {"match": "full"}, 1.0),
        ([r"\d", "x"], "4", {}, 0.5),
        ([r"\d", "x"], "4", {"require": "any"}, 1.0),
        ([r"\d", "x"], "y", {"require": "any"}, 0.0),
        (r"\d", "4 sorry", {"forbidden": "sorry|cannot"}, 0.0),
        (r"\d", "4", {"forbidden": "sorry|cannot"}, 1.0),
        (r"x?", "", {"match": "full"}, 1.0),  # full: it can fail
    ],
)
def test_patterns(pattern: Any, answer: str, options: dict[str, Any], score: float) -> None:
    assert value("regex_match", None, answer, pattern=pattern, **options) == score


def test_the_reference_is_a_pattern_where_the_criterion_has_none() -> None:
    assert value("regex_match", r"^\d+ degrees", "21 degrees") == 1.0
    assert value("regex_match", r"^\d+ degrees", "It is 21 degrees") == 0.0


def test_reference_that_is_not_a_pattern_is_an_error_not_a_zero() -> None:
    with pytest.raises(
        MetricError,
        match=r"reference answer is not a usable pattern: `\(:` is not a regular .* at position 0",
    ):
        value("regex_match", "(:", "(:")


@pytest.mark.parametrize("reference", [".*", "^", "Costs $5", "(sunny)?"])
def test_a_reference_that_could_not_fail_or_not_pass_is_an_error_too(reference: str) -> None:
    with pytest.raises(MetricError, match=r"the reference answer is not a usable pattern: .* text"):
        value("regex_match", reference, "anything")
    case = EvalCase.model_validate(
        {
            "eval_id": "c",
            "conversation": [{"user_content": {}, "final_response": {"parts": [{"text": reference}]}}],
        }
    )
    assert [*metric("regex_match").check(case)]


def test_only_forbidding_asks_for_nothing_else() -> None:
    assert value("regex_match", "(", "fine", forbidden="sorry") == 1.0
    score = scored(metric("regex_match", forbidden="sorry"), case_of(None, None))
    assert score.value == 1.0
    assert score.per_invocation[0].warning == NO_TEXT_TO_SEARCH


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        ("room 42", {"pattern": r"\d+"}, 'matched: "42"'),
        ("room", {"pattern": r"\d+"}, r"nothing in the answer matches `\d+`"),
        ("room 42", {"pattern": r"\d+", "match": "full"}, r"the whole answer does not match `\d+`"),
        (
            "so sorry",
            {"pattern": "so", "forbidden": "s.rry"},
            'the answer matches a forbidden pattern: "sorry"',
        ),
        ("fine", {"forbidden": "s.rry"}, "no forbidden pattern matches"),
        ("4", {"pattern": [r"\d", "x"], "require": "any"}, 'matched: "4"'),
        ("y", {"pattern": ["a", "x"], "require": "any"}, "nothing in the answer matches `a`, `x`"),
    ],
)
def test_reasons(answer: str, options: dict[str, Any], message: str) -> None:
    assert reason("regex_match", None, answer, **options) == message


def test_details_contain_the_match() -> None:
    found = explanation("regex_match", None, "room 42", pattern=[r"\d+", "x"], forbidden="y")
    assert found.details == {
        "checks": [
            {"pattern": r"\d+", "found": "42", "forbidden": False},
            {"pattern": "x", "found": None, "forbidden": False},
            {"pattern": "y", "found": None, "forbidden": True},
        ]
    }


ANY_ANSWER = [
    r"[\w\W]", r"\w|\W", r"\s|\S", ".|\n", "(?s).", r"[^\x00]", "[^~]", "[^~]+", "[^a]", "[^7]", r"[^\n]", "[^-_]", "[^日]", r"[^\u20ac]",
    r"[^\x01-\x08]", ".", ".+", r"\S", r"\S+", r"^\S", r"\S[\s\S]*", r"(?=\S)", ".|x",
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pattern": "("}, r"pattern: `\(` is not a regular expression: missing \), .* at position 0"),
        ({"pattern": ["a", "[z-a]"]}, "bad character range z-a at position 1"),
        ({"forbidden": "*"}, "forbidden: .* nothing to repeat at position 0"),
        ({"pattern": "a{99999999999}"}, "too large|not a regular expression"),
        ({"pattern": "a*"}, "found in every text"),
        ({"pattern": ""}, "found in every text"),
        ({"forbidden": "(x|)", "match": "full"}, "found in every text"),
        *(
            ({"pattern": ["ok", each]}, "found in every text")
            for each in ("^", "$", r"\A", r"\Z", "", ".*", "()")
        ),
        ({"pattern": ".*", "match": "full"}, "matches any text as a whole"),
        ({"pattern": "^.*$"}, "matches any text as a whole"),
        *(
            ({option: pattern}, "matches any text that is not empty")
            for option in ("pattern", "forbidden")
            for pattern in ANY_ANSWER
        ),
        ({"pattern": r"[\s\S]+", "match": "full"}, "matches any text"),
        (
            {"forbidden": r"as an ai\\b"},
            r"forbidden: .* looks for a backslash or a control character; write `as an ai.b`",
        ),
        ({"forbidden": "as an ai\b"}, "looks for a backslash or a control character"),
        ({"forbidden": r"\\d{3}-\\d{4}"}, "looks for a backslash"),
        ({"forbidden": "$5"}, r"`\$5` can match no text at all"),
        (
            {"pattern": "(?a)(?u)x"},
            r"`\(\?a\)\(\?u\)x` is not a regular expression: ASCII and UNICODE flags are incompatible",
        ),
        ({"pattern": []}, "pattern"),
        ({"pattern": "a", "seconds": 0}, "seconds"),
        ({"pattern": "a", "match": "fullmatch"}, "match: Input should be 'search' or 'full'"),
        ({"expected": "a"}, "unknown option 'expected'"),
    ],
)
def test_patterns_that_are_none_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        metric("regex_match", **options)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w", r"\W", r"\D", "[^a-z]", "^.$", "^.+$", "(?s)..", ".{3}", r"^\S+$", r"^[^€]*$", r"^[^\u20ac]*$", r"^[^\x00]*$", "^[^~]+$", "^[^<>]*$", r"^\D*$", "^.{0,2000}$", r"(?s)^.{0,2000}$", r"(?s)^.{1,9000}$", r"^(?!.*\d{3}-\d{4})",
        "(?i)as an ai", r"\bas an ai\b", r"C:\\windows", r"\\begin\{", r"C:\\data", r"^\\\\server", "[a-zA-Z0-9 .,!?]",
    ],
)  # fmt: skip
def test_patterns_that_can_fail_are_accepted(pattern: str) -> None:
    metric("regex_match", pattern=pattern)


# --- patterns that could run for ever --------------------------------------------------------------------------------


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        *(
            pytest.param(pattern, marks=pytest.mark.slow)
            for pattern in (r"^(a|a)*$", r"(.*)*x", r"(\w+\s?)*!", r"^(([a-z])+.)+[A-Z]([a-z])+$")
        ),
    ],
)
def test_a_pattern_that_explodes_is_stopped_and_is_an_error(pattern: str) -> None:
    started = time.monotonic()
    with pytest.raises(MetricError, match=r"took longer than 0.2 s on an answer of 41 characters"):
        value("regex_match", None, "a" * 40 + "\N{SNOWMAN}", pattern=pattern, seconds=0.2)
    assert time.monotonic() - started < 10


@pytest.mark.slow  # waits for the time limit of a search
def test_only_the_pattern_that_explodes_is_blamed() -> None:
    with pytest.raises(MetricError, match=r"`\(a\+\)\+\$` took longer"):
        value("regex_match", None, "a" * 40 + "b", pattern=["(b+)+", "(a+)+$", "(c+)+"], seconds=2)


@pytest.mark.nightly
@pytest.mark.slow  # searches for seconds
def test_a_pattern_that_only_looks_as_if_it_exploded_gets_its_score() -> None:
    case = conversation([None, None], ["fine (words)", "no"])
    score = scored(metric("regex_match", pattern=r"(\w+\s?)+\)", forbidden=r"(x+)+y", seconds=60), case)
    assert [turn.value for turn in score.per_invocation] == [1.0, 0.0]
    assert (score.per_invocation[0].details or {})["checks"][0]["found"] == "words)"


def test_the_process_finds_what_re_finds() -> None:
    searches = [
        Search(re.compile(pattern, flags), full, text)
        for pattern, flags in ((r"a+b", 0), (r"A", re.IGNORECASE), (r"(?s)x.y", 0), ("é|\ud800", 0))
        for full in (False, True)
        for text in ("aab", "x\ny", "", "é", "\ud800", "A\N{SNOWMAN}a")
    ]
    matches = [
        one.pattern.fullmatch(one.text) if one.full else one.pattern.search(one.text) for one in searches
    ]
    assert search_texts(searches, 30) == [match and match.span() for match in matches]
    assert search_texts([], 30) == []


def test_a_python_that_cannot_be_started_is_an_error(
    no_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(MetricError, match="process that searches with regular expressions"):
        search_texts([Search(re.compile("a"), False, "aab")], 1)


ONE = Search(re.compile("b"), False, "aab")
EXPLOSION = Search(re.compile("(a+)+$"), False, "a" * 40 + "b")


@pytest.fixture
def no_process() -> Iterator[None]:
    """No process is waiting when the test starts."""
    search._close_idle()
    yield
    search._close_idle()


def test_a_process_is_reused(no_process: None) -> None:
    assert search_texts([ONE], 30) == [(2, 3)]
    (process,) = search._idle
    assert search_texts([ONE, ONE], 30) == [(2, 3), (2, 3)]
    assert search._idle == [process]


def test_a_process_that_ran_out_of_time_is_not_reused(no_process: None) -> None:
    with pytest.raises(MetricError, match="took longer"):
        search_texts([ONE, EXPLOSION], 0.2)
    assert search._idle == []
    assert search_texts([ONE], 30) == [(2, 3)]


def test_a_process_that_ended_while_it_waited_is_replaced(no_process: None) -> None:
    search_texts([ONE], 30)
    search._idle[0].kill()
    search._idle[0].wait()
    assert search_texts([ONE], 30) == [(2, 3)]


def test_a_process_that_ends_before_its_time_is_an_error(
    no_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "CHILD", "import sys; sys.stdin.readline(); sys.exit(7)")
    with pytest.raises(MetricError, match="ended with exit code 7"):
        search_texts([ONE], 30)


def test_interrupting_the_parent_leaves_the_process(no_process: None) -> None:
    search_texts([ONE], 30)
    search._idle[0].send_signal(signal.SIGINT)
    assert search_texts([ONE], 30) == [(2, 3)]


@pytest.mark.slow
def test_searches_in_many_threads(no_process: None) -> None:
    with ThreadPoolExecutor(8) as pool:
        spans = pool.map(
            lambda n: search_texts([Search(re.compile("b"), False, "a" * n + "b")], 30), range(200)
        )
    assert [*spans] == [[(n, n + 1)] for n in range(200)]
    assert len(search._idle) <= 8


PIECES = st.recursive(
    st.sampled_from(["a", "b", "ab", ".", "[ab]", "a?", "^", "$", r"\b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.map(lambda one: f"(?:{one})*"),
        inner.map(lambda one: f"(?:{one}){{1,3}}"),
        inner.map(lambda one: f"({one})+?"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
    ),
    max_leaves=6,
)


# --- patterns that match every text -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    ["", "()", "a*", "(a|)", "a?b*", "(?i)a*", "a*?b?", ".*", r"[\s\S]*", "(.|\n)*", r"\s*", "x|", "|x", "(?:a^)?",
     "^", "$", r"\A", r"\Z", "(?m)^", "^a*", "a*$", r"\W*$", "^|x", "(^)", "(?=)", "(?=a*)", "(?!a)", "(?<!a)",
     "(?!.*sorry)", "(?!.*sorry).*", "(?=$)", "(?>a*)", "a*+", "a*+$"],
)  # fmt: skip
def test_patterns_that_are_found_in_every_text(pattern: str) -> None:
    compiled = re.compile(pattern)
    assert trivial_pattern_problem(compiled) == ALWAYS
    assert all(compiled.search(text) for text in ("", "a", "aa", "ab", "sorry", "\n", "a\nb"))


@pytest.mark.parametrize(
    "pattern",
    ["a", r"\b", "^$", r"\A\Z", "^a*$", "(?=b)", "(?<=b)", "(a)?(?(1)b|c)", "a*?b", "^(?!.*sorry)",
     "^(?!.*sorry).*$", "a*+^", "(a|b)", "a|^b", "$\n", r"(?m)a$\n^b", "€*5", r"^.{0,200}$", r"\$5", "5$", "x|$ $"],
)  # fmt: skip
def test_patterns_that_distinguish_texts(pattern: str) -> None:
    compiled = re.compile(pattern)
    assert trivial_pattern_problem(compiled) == ""
    found = {
        compiled.search(text) is not None
        for text in ("", "a", "sorry", "\n", "€5", "$5", "c", "a\nb", "x" * 300)
    }
    assert found == {True, False} or pattern in {"(?<=b)", "(a)?(?(1)b|c)"}


@pytest.mark.parametrize(
    ("pattern", "slip"),
    [
        *((pattern, WHOLE) for pattern in (".*", "(?s).*", r"[\s\S]*", r"[\w\W]*", "(.|\n)*", "(.+)?", "(?:.*)+", "^.*$")),
        *((pattern, WHOLE) for pattern in (r"\s*.*\s*", r"(a|.*)", r"\A(.*)\Z", "(?s:.*)", "[^\n]*", "x?.*y*")),
        *((pattern, "") for pattern in (".+", ".{0,99}", "a*", "", "[^€]*", r"[^\x00]+", "(?!.*sorry).*", r".*\.pdf", r"\w*", "a.*")),
    ],
)  # fmt: skip
def test_patterns_for_the_whole_text(pattern: str, slip: str) -> None:
    assert trivial_pattern_problem(re.compile(pattern), full=True) == slip


@pytest.mark.parametrize(
    "pattern",
    ["(?!)", "x(?!)", "$5", "cost: $5", r"$\d+", "a^", "5^2", r"\Zb", r"b\A", r"[^\s\S]", "(?:a^)+", "a^|b^"],
)
def test_patterns_that_match_nothing(pattern: str) -> None:
    assert trivial_pattern_problem(re.compile(pattern)) == NEVER
    assert not any(re.search(pattern, text) for text in ("", "a", "ab", "$5", "5^2", "a^", "cost: $5", "\n5"))


@given(PIECES, st.text("abc\n", max_size=8))
def test_analysis_of_a_pattern_holds_for_any_text(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    if finds_always(compiled):
        assert compiled.search(text)
    if finds_nothing(compiled):
        assert not compiled.search(text)
    if trivial_pattern_problem(compiled, full=True) == WHOLE:
        assert compiled.fullmatch(text.replace("\n", ""))


def test_without_the_parser_of_this_python_no_pattern_is_called_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trivial_patterns, "parser", None)
    assert not finds_nothing(re.compile("(?!)"))
    assert finds_always(re.compile("a*"))
    assert value("regex_match", None, "room 42", pattern=r"\d+") == 1.0


@pytest.mark.slow  # searches for seconds
def test_long_patterns_are_looked_through_in_time() -> None:
    started = time.process_time()
    assert trivial_pattern_problem(re.compile("ab?" * 20_000)) == ""
    assert trivial_pattern_problem(re.compile("b?" * 20_000)) == ALWAYS
    assert time.process_time() - started < 30  # a look back at every piece takes minutes
