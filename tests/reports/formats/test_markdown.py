"""Markdown for a pull request: the verdict first, short, and nothing in it but ours that is more than text."""

import html
import io
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from proctor.reports.base import load_report
from proctor.reports.formats.markdown import MOST, MOST_RUNS
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import Outcome, RunResult, SetSummary
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, F, P, case, good, run, sketch, trial, wrong_covers
from tests.reports.terminal.test_hostile import bad_characters

GITHUB_TAKES = 65_536
TAGS = {"h3", "p", "code", "table", "tr", "td", "details", "summary", "pre"}
QUIET = {"code", "pre"}
"""Elements in which servers make neither mentions nor links nor emoji."""

INJECTIONS = [
    "| a | b |", "`x`", "```", "~~~", "\n```\n", "``` </code>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "<!-- ", "-->", "]]>", "<?php", "<![CDATA[", "@everyone", "@octocat", "#1", "org/repo#2", "https://evil.example", "www.evil.example",
    "a@evil.example", "[click](https://evil.example)", "![x](https://evil.example/p.png)", "[x]: https://evil.example",
    "<https://evil.example>", "# heading", "\n# heading\n", "\n\n# heading\n\n", "- item", "1. item", "> quote", "---", "***", "**bold**", "_x_",
    "~~x~~", "$x$", "$$x$$", "\\", "&lt;script&gt;", "&#64;everyone", ":smile:", "</pre>", "</details>", "</td></tr></table>", "</summary>",
    "\n</pre></details>\n\n@octocat\n\n<pre>", "</code>@octocat<code>", "\r\rx", "\u2028\u2028# x", "\x0c\n\x0c\n# x", "<details open>", "[ ] todo",
    "- [ ] todo", "```suggestion\nx\n```", "<a href=x>", "<svg/onload=x>", "```mermaid\ngraph\n```", "GH-1", "\u00a0\n\u00a0\n# x", " \n \n# x",
]  # fmt: skip


def text_of(*results: RunResult) -> str:
    out = io.StringIO()
    load_report("markdown").write(list(results), out)
    return out.getvalue()


class _Page(HTMLParser):
    """What a browser would show: text outside and inside of the elements that servers leave alone."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.loud, self.quiet = "", ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert attrs == []
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if QUIET & {*self.open}:
            self.quiet += data
        else:
            self.loud += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def page(text: str) -> _Page:
    """The page, once CommonMark has found nothing in it but blocks of HTML."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    assert {token.type for token in tokens} <= {"html_block"}
    rendered = "".join(token.content for token in tokens)
    assert rendered.replace("\n", "") == text.replace("\n", "")
    return _Page(rendered)


# --- what is in it -------------------------------------------------------------------------------------------------------


def test_the_verdict_is_first_then_what_did_not_pass_the_worst_first() -> None:
    text = text_of(sketch(5))
    assert text.startswith("<h3>✕ failed: 1 of 8 cases fails, 1 could not be judged, 1 undecided")
    shown = page(text)
    assert "62.5 % passed (95 %: 31–86)" in shown.loud
    order = [shown.quiet.index(name) for name in ("two_turn_booking", "refund_policy", "cancel_flight")]
    assert order == sorted(order)
    assert "tool_trajectory: mean 0.94 ± 0.04" in shown.quiet
    assert "turn 2: # expected book_table(" in shown.quiet


def test_a_run_that_passed_is_three_lines_and_folded_details() -> None:
    text = text_of(run(good("a"), good("b")))
    assert text.startswith("<h3>✓ passed: all 2 cases pass</h3>")
    assert "<table>" not in text
    assert text.count("<details>") == 1


def test_flaky_cases_and_warnings_are_folded() -> None:
    flaky = case("wobbly", P, trials=[trial(0, P), trial(1, F)])
    result = run(flaky)
    result.warnings.append("a doubt")
    shown = page(text_of(result))
    assert "booking/wobbly: 50 % passed" in shown.quiet
    assert "a doubt" in shown.quiet


@given(runs())
@settings(max_examples=60)
def test_green_only_where_the_run_is(result: RunResult) -> None:
    text = text_of(result)
    page(text)
    assert text.startswith("<h3>✓ passed") == result.passed


def test_what_went_wrong_beside_the_cases_is_told() -> None:
    result = run(good("a"))
    result.sets.append(
        SetSummary("torn", "x/torn.json", "", 0, failure=Failure(where="file", message="no JSON"))
    )
    result.failure = Failure(where="store", message="disk full")
    shown = page(text_of(result))
    assert "torn.json" in shown.quiet
    assert "no JSON" in shown.quiet
    assert "disk full" in shown.quiet


# --- its length ----------------------------------------------------------------------------------------------------------


def _long(count: int, length: int, sign: str) -> RunResult:
    said = Failure(where="agent", type=sign * length, message=sign * length)
    return run(*(case(f"{n}{sign * length}", E, reason=sign * length, trials=[trial(0, E, sign * length, failure=said)])
                 for n in range(count)))  # fmt: skip


@pytest.mark.parametrize(
    "sign", ["x", '"', "&", "\x1b", "🍕"], ids=["plain", "quotes", "ampersands", "ESC", "wide"]
)
@pytest.mark.parametrize(("count", "length"), [(1, 10**6), (1000, 30), (1000, 5000)])
def test_it_is_never_longer_than_github_takes(count: int, length: int, sign: str) -> None:
    text = text_of(_long(count, length, sign))
    assert len(text) <= GITHUB_TAKES
    told = page(text).loud
    if count > MOST:
        assert "more that did not pass" in told


def test_told_and_left_are_all_there_are() -> None:
    text = text_of(run(*(case(f"f{n}", F, reason="x") for n in range(320))))
    assert text.count("<tr>") == MOST + 1
    assert f"… and {320 - MOST} more that did not pass" in text


def test_many_agents_share_the_room() -> None:
    results = [_long(100, 200, "x") for _ in range(MOST_RUNS + 5)]
    text = text_of(*results)
    assert len(text) <= GITHUB_TAKES
    assert text.endswith("and 5 more agents: 5 error\n")


# --- texts of strangers --------------------------------------------------------------------------------------------------


def assert_only_text(text: str) -> None:
    canary = f"canary{text}yranac"
    result = everywhere(canary)
    result.stopped_by = canary
    shown = page(text_of(result))
    assert "canary" not in shown.loud
    assert "canary" in shown.quiet
    assert bad_characters(text_of(result)) == set()


@for_each_text({"injections": INJECTIONS, **GROUPS})
def test_texts_are_shown_as_they_are(text: str) -> None:
    assert_only_text(text)
    page(text_of(everywhere(text)))


@given(st.text(st.sampled_from("\n\r \t|`~<>/!-#@[]()&;:*_\\x\u2028"), max_size=20))
def test_whatever_it_is_made_of(text: str) -> None:
    assert_only_text(text)
    page(text_of(run(case(text, F, reason=text), case("b", E, reason=f"a\n{text}\n"))))


def test_a_text_reads_as_it_was() -> None:
    shown = page(text_of(run(case("<b>&amp;|`x`", F, reason="5 < 6 & 'a'"))))
    assert "booking/<b>&amp;|`x`" in shown.quiet
    assert "5 < 6 & 'a'" in shown.quiet


def test_a_case_that_was_not_reached_has_a_row_and_no_evidence() -> None:
    text = text_of(run(wrong_covers(), case("later", Outcome.NOT_RUN, trials=[])))
    assert "not run" in text
    assert text.count("booking/later") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_any_stream_can_take_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    load_report("md").write([run(case("caffè 🍕", F, reason="日本"))], out)
    out.flush()
    assert "caffè 🍕" in html.unescape(raw.getvalue().decode(encoding))
