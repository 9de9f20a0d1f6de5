"""Annotations of GitHub Actions: at the line of the case, ten of a level, and no command but ours."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.reports.base import load_report
from proctor.reports.formats.github import LONGEST, MOST
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import Outcome, RunResult, SetSummary
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, F, P, case, crashed, good, run, trial, wrong_covers
from tests.reports.terminal.test_hostile import bad_characters

INJECTIONS = [
    "::error::owned", "\n::error::owned", "\r\n::add-mask::x", "%0A::error::owned", "a,file=/etc/passwd", "a::b", "::",
    "x\n::stop-commands::pause\n", "##[error]owned", "##[add-path]/tmp", "%25", "%", "%0D", ",line=1", "a:b,c=d",
    "::set-output name=x::y", "\u2028::error::x", "\x85::error::x", "\x0b::error::x", "::endgroup::", "=", "name=value",
]  # fmt: skip


def lines(*results: RunResult) -> list[str]:
    out = io.StringIO()
    load_report("github").write(list(results), out)
    return out.getvalue().splitlines()  # at every sign that anything takes for an end of line


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A line as the runner reads it: level, properties, text."""
    found = re.fullmatch(r"::(?P<level>\w+) (?P<fields>[^:]*)::(?P<text>.*)", line)
    assert found is not None, line
    fields = dict(each.split("=", 1) for each in found["fields"].split(","))
    back = {name: _back(value) for name, value in fields.items()}
    return found["level"], back, _back(found["text"])


def _back(value: str) -> str:
    for written, meant in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        value = value.replace(written, meant)
    return value


def annotations(*results: RunResult) -> list[tuple[str, dict[str, str], str]]:
    return [read(line) for line in lines(*results)]


def test_a_failure_points_at_the_line_of_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "evals"
    folder.mkdir()
    (folder / "booking.evalset.json").write_text("{}")
    monkeypatch.chdir(folder)
    verdict, failure = annotations(run(good("a"), wrong_covers()))
    assert verdict == (
        "notice",
        {"title": "Proctor: travel_agent"},
        "failed: 1 of 2 cases fails, 1 is flaky\n1 of 2 cases passed (50 %, 95 % CI: 9–91)",
    )
    level, fields, text = failure
    title = "failed: booking/two_turn_booking"
    assert (level, fields) == ("error", {"file": "evals/booking.evalset.json", "line": "12", "title": title})
    assert text.startswith("tool_trajectory_avg_score 0.70 < 0.9: turn 2: ")
    assert "# expected book_table(" in text


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN])
def test_every_outcome_but_passed_is_an_error(outcome: Outcome) -> None:
    assert [level for level, _, _ in annotations(run(good("a"), case("b", outcome)))] == ["notice", "error"]


def test_passed_case_has_no_line_and_a_flaky_one_warns() -> None:
    flaky = case("b", P, trials=[trial(0, P), trial(1, F)])
    flaky.missed = "trial 2: 0.40 < 0.8"
    found = annotations(run(good("a"), flaky, case("c", Outcome.SKIPPED)))
    assert [(level, fields["title"]) for level, fields, _ in found[1:]] == [("warning", "flaky: booking/b")]
    assert found[1][2].splitlines()[1] == flaky.missed


def test_every_warning_of_the_run_and_of_its_scores_is_one() -> None:
    with_warning = good("a")
    [score] = with_warning.metrics["response_match_score"].per_trial
    assert score is not None
    score.per_invocation[0].warning = "the reference is empty"
    result = run(with_warning)
    result.warnings = ["sets/a.json:3:5: an unknown key", "key sk-proj-0123456789abcdef"]
    found = [(fields["title"], text) for level, fields, text in annotations(result) if level == "warning"]
    assert [title for title, _ in found] == [f"Proctor: {result.agent}"] * 3
    assert found[0][1] == "sets/a.json:3:5: an unknown key"
    assert "sk-proj" not in found[1][1]
    assert "the reference is empty" in found[2][1]


def test_of_many_warnings_the_rest_is_one_line() -> None:
    flaky = [case(f"b{n}", P, trials=[trial(0, P), trial(1, F)]) for n in range(12)]
    result = run(*flaky)
    result.warnings = ["one", "two"]
    found = [text for level, _, text in annotations(result) if level == "warning"]
    assert len(found) == MOST
    assert found[:2] == ["one", "two"]
    assert found[-1] == "5 more warnings"


def test_of_many_the_worst_come_first_and_the_rest_is_one_line() -> None:
    result = run(*(crashed() for _ in range(8)), *(case(f"f{n}", F) for n in range(8)))
    found = [each for each in annotations(result) if each[0] == "error"]
    assert len(found) == MOST
    assert [fields["title"][:6] for _, fields, _ in found[:-1]] == ["failed"] * 8 + ["error:"]
    assert found[-1][2] == "7 more did not pass"


@pytest.mark.parametrize("count", [9, 10, 11, 25])
def test_printed_and_omitted_errors_add_up(count: int) -> None:
    result = run(*(case(f"f{n}", F) for n in range(count)))
    result.sets.append(SetSummary("torn", "t.json", "", 0, failure=Failure(where="file", message="no JSON")))
    errors = [text for level, _, text in annotations(result) if level == "error"]
    left = re.fullmatch(r"(\d+) more did not pass", errors[-1])
    assert len(errors) <= MOST
    assert (len(errors) - 1 + int(left[1]) if left else len(errors)) == count + 1


@pytest.mark.slow
@given(runs())
def test_red_where_the_run_is(result: RunResult) -> None:
    assert ("error" in {level for level, _, _ in annotations(result)}) == (not result.passed)


def test_nothing_at_all_is_an_error() -> None:
    assert [level for level, _, _ in annotations(run())] == ["notice", "error"]


# --- texts of strangers --------------------------------------------------------------------------------------------------

ALLOWED: dict[str, Any] = {
    "notice": {"title"},
    "error": {"file", "line", "title"},
    "warning": {"file", "line", "title"},
}


def assert_only_ours(*results: RunResult) -> None:
    for level, fields, _ in annotations(*results):
        assert fields.keys() <= ALLOWED[level]
    assert bad_characters("\n".join(lines(*results))) == set()


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@for_each_text({"injections": INJECTIONS, **GROUPS})
def test_no_text_makes_a_command_or_a_field(text: str) -> None:
    assert_only_ours(everywhere(text))
    assert len(lines(everywhere(text))) == len(lines(everywhere("x")))


@given(st.text(st.sampled_from("%0A:,=\n\r#[]e\u2028"), max_size=20))
def test_any_text(text: str) -> None:
    found = annotations(run(case(f"x{text}", E, reason=f"y{text}")))
    assert [(level, {*fields}) for level, fields, _ in found] == [
        ("notice", {"title"}),
        ("error", {"file", "line", "title"}),
    ]


def test_texts_come_through_as_they_were() -> None:
    (_, (_, fields, text)) = annotations(run(case("50%, a:b", E, reason="100% of 2:3, %0A")))
    assert fields["title"] == "error: booking/50%, a:b"
    assert text == "100% of 2:3, %0A"


def test_a_long_text_is_cut() -> None:
    assert max(map(len, lines(run(case("x" * 10**6, F, reason="%" * 10**6))))) < 3 * LONGEST + 2000
