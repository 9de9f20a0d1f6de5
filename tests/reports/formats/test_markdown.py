"""Markdown for a pull request: the verdict first, short, and nothing in it but ours that is more than text."""

import io
import re
from itertools import groupby

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from proctor.common.safe_text import show_spaces
from proctor.reports.base import ReportOptions, load_report
from proctor.reports.formats.markdown import MOST, MOST_RUNS
from proctor.reports.formats.markdown_text import code, escaped_sentence, table, table_row
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import Outcome, RunResult, SetSummary
from proctor.schema.results.score import MetricScore, Score
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, F, P, case, crashed, good, metric, run, sketch, trial, wrong_covers
from tests.reports.terminal.test_hostile import bad_characters

GITHUB_TAKES = 65_536
HTML = {"<details>", "<details open>", "</details>", "</details>\n"}
"""The only HTML besides summaries."""
SUMMARY = re.compile(r"<details( open)?>\n<summary>[A-Za-z0-9, ]+</summary>\n?")
BLOCKS = {"heading_open", "paragraph_open", "table_open", "thead_open", "tbody_open", "tr_open", "th_open", "td_open", "bullet_list_open",
          "list_item_open", "fence", "html_block", "inline"}  # fmt: skip
INLINES = {"text", "code_inline", "softbreak", "hardbreak"}

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


class _Page:
    """What a server would show: text in code, which servers leave alone (`quiet`), and other text (`loud`)."""

    def __init__(self, text: str) -> None:
        tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
        self.loud, self.quiet = "", ""
        self.open_details = 0
        for token in tokens:
            assert token.type in BLOCKS or token.type.removesuffix("_close") + "_open" in BLOCKS, token.type
            if token.type == "html_block":
                self._html(token.content)
            elif token.type == "fence":
                assert token.info == "diff"
                assert all(
                    line[:2] in {"  ", "- ", "+ ", "! ", "@@", ""} for line in token.content.splitlines()
                )
                self.quiet += token.content + "\n"
            for child in token.children or []:
                self._inline(child)
        assert self.open_details == 0
        for in_table, lines in groupby(text.splitlines(), key=lambda line: line.startswith("| ")):
            assert not in_table or len({len(cells_of_github(line)) for line in lines}) == 1

    def _html(self, content: str) -> None:
        assert content in HTML or SUMMARY.fullmatch(content), content
        self.open_details += content.count("<details") - content.count("</details>")
        self.loud += content

    def _inline(self, token: Token) -> None:
        assert token.type in INLINES, token.type
        if token.type == "code_inline":
            self.quiet += token.content + "\n"
        else:
            self.loud += token.content + ("\n" if token.type != "text" else "")


def page(text: str) -> _Page:
    """The page, once CommonMark has found nothing in it but our own headings, tables, lists, code and folds."""
    return _Page(text)


def cells_of_github(line: str) -> list[str]:
    """The cells of a row as cmark-gfm reads them: it skips each escaped character, and not only an escaped pipe."""
    return re.findall(r"(?:\\[^\w\s]|[^|])+", line.strip().removeprefix("|").removesuffix("|"))


# --- what is in it -------------------------------------------------------------------------------------------------------


def test_the_verdict_is_first_then_what_did_not_pass_the_worst_first() -> None:
    text = text_of(sketch(5))
    assert text.startswith("### ✕ failed: 1 of 8 cases fails, 1 could not be scored, 1 inconclusive")
    shown = page(text)
    assert "5 of 8 cases passed (62.5 %, 95 % CI: 31–86)" in shown.loud
    order = [shown.quiet.index(name) for name in ("two_turn_booking", "refund_policy", "cancel_flight")]
    assert order == sorted(order)
    assert "means: `tool_trajectory` 0.94 ± 0.04 · " in text
    assert "@@ trial 3 of 5, turn 2 @@ La Trattoria.\n" in shown.quiet
    assert '- book_table(…, covers=2, time="19:00")\n+ book_table(…, covers=4, time="19:00")\n' in shown.quiet
    assert "- state covers: 2\n+ state covers: 4\n" in shown.quiet


def test_of_many_failed_cases_those_with_the_fewest_passed_trials_are_listed() -> None:
    mostly_passed = [
        case(f"most_{n}", F, trials=[trial(0, P), trial(1, P), trial(2, F)]) for n in range(MOST)
    ]
    hardly_passed = case("hardly", F, trials=[trial(0, F), trial(1, P), trial(2, F)])
    shown = page(text_of(run(*mostly_passed, hardly_passed)))
    assert 0 < shown.quiet.index("booking/hardly") < shown.quiet.index("booking/most_0")
    assert f"booking/most_{MOST - 1}" not in shown.quiet


def test_a_run_that_passed_is_three_lines_and_folded_details() -> None:
    text = text_of(run(good("a"), good("b")))
    assert text.startswith("### ✓ passed: all 2 cases pass\n")
    assert "| --- |" not in text
    assert text.count("<details>") == 1


def test_flaky_cases_and_warnings_are_folded() -> None:
    flaky = case("wobbly", P, trials=[trial(0, P), trial(1, F)])
    flaky.missed = "trial 2: covers 0.00 < 1"
    result = run(flaky)
    result.warnings.append("a warning")
    text = text_of(result)
    shown = page(text)
    assert "- `booking/wobbly`: 1 of 2 trials passed (50 %" in text
    assert "flaky; `trial 2: covers 0.00 < 1`" in text
    assert "a warning" in shown.quiet


@pytest.mark.slow
@given(runs())
def test_green_only_where_the_run_is(result: RunResult) -> None:
    text = text_of(result)
    page(text)
    assert text.startswith("### ✓ passed") == result.passed


def test_error_outside_the_cases_is_reported() -> None:
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


@pytest.mark.slow
@pytest.mark.nightly(check=4)
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


def test_printed_and_omitted_cases_add_up() -> None:
    text = text_of(run(*(case(f"f{n}", F, reason="x") for n in range(320))))
    assert text.count("\n| ✕ failed | ") == MOST
    assert f"… and {320 - MOST} more that did not pass" in text


@pytest.mark.parametrize("only_different", [False, True])
def test_several_agents_are_side_by_side_and_each_has_a_section(only_different: bool) -> None:
    first, second = (
        run(good("a"), wrong_covers(), crashed(), agent="main"),
        run(good("a"), good("two_turn_booking"), crashed(), agent="branch"),
    )
    out = io.StringIO()
    options = ReportOptions(only_different=only_different)
    load_report("markdown").write([first, second], out, options=options)
    text = out.getvalue()
    page(text)
    assert text.startswith("agents: ")
    assert "\n| case | main | branch | score of |\n" in text
    assert text.index("## `main`\n\n### ✕ failed") < text.index("## `branch`\n\n### ! error")
    same = crashed().eval_id
    assert (f"| `booking/{same}` |" in text) == (not only_different)
    assert ("2 of 3 cases are the same for all agents" in text) == only_different


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@for_each_text({"injections": INJECTIONS, **GROUPS})
def test_texts_are_shown_as_they_are(text: str) -> None:
    assert_only_text(text)
    page(text_of(everywhere(text)))


@pytest.mark.slow
@given(st.text(st.sampled_from("\n\r \t|`~<>/!-#@[]()&;:*_\\x\u2028"), max_size=20))
def test_any_text(text: str) -> None:
    assert_only_text(text)
    page(text_of(run(case(text, F, reason=text), case("b", E, reason=f"a\n{text}\n"))))


def test_text_is_read_back_unchanged() -> None:
    shown = page(text_of(run(case("<b>&amp;|`x`", F, reason="5 < 6 & 'a'"))))
    assert "booking/<b>&amp;|`x`" in shown.quiet
    assert "5 < 6 & 'a'" in shown.quiet


@given(st.text(st.sampled_from("` |\\a"), min_size=1, max_size=12))
def test_code_in_a_cell_separates_a_backslash_from_a_pipe(text: str) -> None:
    rendered = MarkdownIt("commonmark").enable("table").parse(table(["x"], [table_row([code(text)])]))
    codes = [
        child.content for token in rendered for child in token.children or [] if child.type == "code_inline"
    ]
    assert codes == [show_spaces(text).replace("\\|", "\\ |")]


def test_spaces_that_a_page_shows_as_one_are_visible_in_code() -> None:
    assert "| `booking/a \\x20b` |" in text_of(run(case("a  b", F)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("failed: 3 of 40 cases fail", "failed: 3 of 40 cases fail"),
        ("40 % passed (95 % CI: 12–77), 2/5, $0.60", "40 % passed (95 % CI: 12–77), 2/5, $0.60"),
        ("caught 2,000/2,000, 400/400", "caught 2,000/2,000, 400/400"),
        (
            "my_metric fell from 1 to 0.9 (-0.1; p < 0.001)",
            "`my_metric` fell from 1 to 0.9 (-0.1; p < 0.001)",
        ),
        (
            "@octocat #1 <b> www.evil.example :smile: a@b",
            "`@octocat` `#1` `<b>` `www.evil.example` `:smile:` `a@b`",
        ),
        ("`my_metric`: it failed (`x`).", "`my_metric`: it failed (`x`)."),
        ("1. x", "`1.` x"),
        ("- x", "`-` x"),
        ("deadbeef GH-1 [x](y) *a* ![", "`deadbeef` `GH-1` `[x](y)` `*a*` `![`"),
    ],
)
def test_special_characters_in_a_sentence_are_code(text: str, shown: str) -> None:
    assert escaped_sentence(text) == shown


@given(st.text(st.sampled_from("\n |`~<>/!-#@[]()&;:*_\\x.1w$+^=\u2028"), max_size=20))
@example(" >")
@example("     x")
def test_a_sentence_is_never_more_than_text_and_code(text: str) -> None:
    for token in (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .parse(escaped_sentence(text))
    ):
        assert token.type in {"paragraph_open", "inline", "paragraph_close"}
        assert {child.type for child in token.children or []} <= {"text", "code_inline"}


def test_a_case_that_was_not_reached_has_a_row_and_no_evidence() -> None:
    text = text_of(run(wrong_covers(), case("later", Outcome.NOT_RUN, trials=[])))
    assert text.count("not run") == 3, "in the verdict, the pass rate and as the outcome, not as a reason"
    assert text.count("booking/later") == 1


def test_only_the_cause_of_a_stop_is_code_in_the_verdict() -> None:
    stopped = run(good("a"), case("later", Outcome.NOT_RUN, trials=[]))
    stopped.stopped_by = "a user's @hook"
    text = text_of(stopped)
    assert text.startswith("### – not run: 1 of 2 cases not run, stopped by `a user's @hook`\n")


def test_separators_of_unicode_end_no_line() -> None:
    answer = {"text": {"expected": "one", "actual": "two\u2028three\x85four"}}
    score = MetricScore(0.0, [Score(0.0, details=answer)])
    text = text_of(run(case("answer", F, metric("response_match_score", [score], 0.8))))
    assert "\n+ two\\u2028three\\x85four\n" in text


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_any_stream_can_take_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    load_report("md").write([run(case("caffè 🍕", F, reason="日本"))], out)
    out.flush()
    written = raw.getvalue().decode(encoding)  # what the encoding lacks is an escape, as code shows it
    assert "caffè 🍕".encode(encoding, "backslashreplace").decode(encoding) in written
