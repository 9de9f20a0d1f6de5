"""Runs and comparisons as HTML in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import proctor

EVIL = "<script>alert(1)</script> & </td>"


def _eval_set(*texts: str) -> dict[str, object]:
    cases = [
        {
            "eval_id": text,
            "conversation": [
                {
                    "user_content": {"parts": [{"text": text}]},
                    "final_response": {"parts": [{"text": f"You wrote {text}"}]},
                }
            ],
        }
        for text in texts
    ]
    return {"eval_set_id": "words", "eval_cases": cases}


def _run(*wrong: str) -> proctor.RunResult:
    return _run_of("a", "b", EVIL, wrong=wrong)


def _run_of(*texts: str, wrong: tuple[str, ...] | None = None) -> proctor.RunResult:
    """Run cases with these texts; by default all are answered wrongly."""
    wrong = texts if wrong is None else wrong

    def agent(text: str) -> str:
        return "Pardon?" if text in wrong else f"You wrote {text}"

    return proctor.evaluate_sync(
        agent,
        _eval_set(*texts),
        config={"criteria": {"response_match_score": 0.8}},
        num_runs=2,
        store="memory:",
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _texts(html: str) -> str:
    """The text of well-formed HTML that has nothing but tables, which scroll, and paragraphs."""
    parser = _Tags()
    parser.feed(html)
    assert not parser.open
    assert parser.tags <= {"p", "b", "div", "table", "thead", "tbody", "tr", "th", "td", "code"}
    return re.sub(r"<[^>]*>", "|", html)


def test_backticks_of_a_name_are_text_and_those_of_a_reason_mark_code() -> None:
    name = "a `b` c"
    html = _run_of(name)._repr_html_()
    assert f"words/{name}<" in html
    assert re.search(r"a <code>b</code> c", html) is None
    found = proctor.compare_sync(_run_of(name, wrong=()), _run_of(name))
    assert f"words/{name}<" in found._repr_html_()


def test_a_run_shows_its_verdict_what_failed_and_shared_causes() -> None:
    text = _texts(_run("b", EVIL)._repr_html_())
    assert "2 of 3 cases fail" in text
    assert re.search(r"✕ failed\|\|words/b\|\|[^|]+\|\|0 of 2 trials passed \(0 %, 95 % CI: 0–66\)\|", text)
    assert "words/&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;/td&gt;|" in text
    assert re.search(r"means: response_match 0\.\d\d", text), "the mean of the metric"
    assert "words/a|" not in text, "what passed is no news"


def test_a_run_that_passed_has_no_table_of_failures() -> None:
    text = _texts(_run()._repr_html_())
    assert "3 cases" in text
    assert "reason" not in text


def test_a_comparison_shows_its_outcome_and_the_cases_that_changed() -> None:
    comparison = proctor.compare_sync(_run(), _run("b", EVIL))
    text = _texts(comparison._repr_html_())
    assert comparison.outcome.value.replace("_", " ") in text
    assert "words/b|" in text
    assert "&lt;script&gt;" in text
    assert "2/2 → 0/2" in text


def test_numbers_have_the_signs_of_the_page() -> None:
    text = _texts(proctor.compare_sync(_run(), _run("b", EVIL))._repr_html_())
    assert ", −66.7 points" in text
    assert "by 3 cases × 2 trials" in text


def test_a_column_without_content_is_left_out() -> None:
    run = proctor.evaluate_sync(
        lambda text: "Pardon?",
        _eval_set("a"),
        config={"criteria": {"response_match_score": 0.8}},
        store="memory:",
    )
    assert "|outcome||case||reason|" in _texts(run._repr_html_())
    assert "|outcome||case||reason||trials|" in _texts(_run("a")._repr_html_())


def test_only_cells_with_a_long_word_break_inside_words_and_short_ones_do_not_break() -> None:
    long = "name_" * 12
    cells = re.findall(r'<td style="([^"]*)">([^<]*)', _run_of(long)._repr_html_())
    broken = [text for style, text in cells if "overflow-wrap: anywhere" in style]
    assert f"words/{long}" in broken
    assert "✕ failed" not in broken
    whole = [text for style, text in cells if "white-space: nowrap" in style]
    assert "✕ failed" in whole
    assert f"words/{long}" not in whole


def test_a_tool_whose_name_has_backticks_is_one_code_in_the_reason() -> None:
    eval_set = _eval_set("a")
    eval_set["eval_cases"][0]["conversation"][0]["intermediate_data"] = {  # type: ignore[index]  # a dict of any values
        "tool_uses": [{"name": "look`up`", "args": {}}]
    }
    run = proctor.evaluate_sync(
        lambda text: f"You wrote {text}",
        eval_set,
        config={"criteria": {"tool_trajectory_avg_score": 1.0}},
        store="memory:",
    )
    assert "<code>look`up`()</code> was not called" in run._repr_html_()
