"""JUnit XML: valid for any text, nothing green that did not pass, stable names."""

import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from proctor.reports.base import ReportOptions, load_report
from proctor.reports.formats.junit import LONGEST_NAME, LONGEST_TEXT
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.schema.results.score import MetricScore, Score
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, F, P, case, good, metric, run, sketch, trial, wrong_covers
from tests.reports.terminal.test_hostile import bad_characters

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = etree.XMLSchema(etree.parse(ROOT / "docs/schemas/junit.xsd"))


def text_of(*results: RunResult, verbose: bool = False) -> str:
    out = io.StringIO()
    load_report("junit").write(list(results), out, options=ReportOptions(verbose=verbose))
    return out.getvalue()


def written(*results: RunResult) -> ET.Element:
    """The report, once two parsers have read it and the schema has nothing against it."""
    text = text_of(*results)
    document = etree.fromstring(text.encode())
    SCHEMA.assertValid(document)
    return ET.fromstring(text)


def cases(document: ET.Element) -> dict[str, ET.Element]:
    found = list(document.iter("testcase"))
    assert len({(each.get("classname"), each.get("name")) for each in found}) == len(found)
    return {each.get("name", ""): each for each in found}


def colour(test_case: ET.Element) -> str:
    return next((each.tag for each in test_case if each.tag in {"failure", "error", "skipped"}), "green")


# --- what is green -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.PASSED, "green"),
        (Outcome.FAILED, "failure"),
        (Outcome.ERROR, "error"),
        (Outcome.INCONCLUSIVE, "error"),
        (Outcome.NOT_RUN, "error"),
        (Outcome.SKIPPED, "skipped"),
    ],
)
def test_only_what_passed_is_green(outcome: Outcome, expected: str) -> None:
    assert colour(cases(written(run(case("a", outcome), good("b"))))["a"]) == expected


def _broken_set() -> RunResult:
    result = run(good("a"))
    failure = Failure(where="file", message="no JSON")
    result.sets.append(SetSummary("torn", "torn.json", "", 0, failure=failure))
    return result


def _broken_off() -> RunResult:
    result = run(good("a"))
    result.failure = Failure(where="store", message="disk full")
    return result


@pytest.mark.parametrize(
    "result",
    [run(), run(case("a", Outcome.SKIPPED)), _broken_set(), _broken_off()],
    ids=["no case", "only skipped ones", "a set that could not be run", "a run that could not continue"],
)
def test_error_outside_the_cases_is_red(result: RunResult) -> None:
    assert not result.passed
    assert "error" in {colour(each) for each in cases(written(result)).values()}


@pytest.mark.slow
@given(st.lists(runs(), max_size=2))
def test_red_where_the_run_is_and_counts_that_agree(results: list[RunResult]) -> None:
    document = written(*results)
    red = [colour(each) for each in document.iter("testcase")]
    assert bool({"failure", "error"} & set(red)) == any(not each.passed for each in results)
    for element in [document, *document.iter("testsuite")]:
        counted = Counter(colour(each) for each in element.iter("testcase"))
        told = [int(element.get(name, "-1")) for name in ("tests", "failures", "errors", "skipped")]
        assert told == [counted.total(), counted["failure"], counted["error"], counted["skipped"]]


# --- what is in it -------------------------------------------------------------------------------------------------------


def test_failure_contains_the_evidence() -> None:
    found = cases(written(sketch(2)))
    failure = found["two_turn_booking"].find("failure")
    assert failure is not None
    assert failure.get("type") == "tool_trajectory_avg_score"
    assert failure.get("message", "").startswith("tool_trajectory_avg_score 0.70 < 0.9: turn 2: ")
    assert failure.text is not None
    assert failure.text.startswith("failed: tool_trajectory_avg_score 0.70 < 0.9")
    assert "# expected book_table(" in failure.text
    error = found["refund_policy"].find("error")
    assert error is not None
    assert error.get("type") == "KeyError"
    assert "travel/tools.py:42" in (error.text or "")
    undecided = found["cancel_flight"].find("error")
    assert undecided is not None
    assert undecided.get("type") == "inconclusive"


def test_scores_are_properties_and_time_is_that_of_all_trials() -> None:
    found = cases(written(sketch(2)))["two_turn_booking"]
    facts = {each.get("name"): each.get("value") for each in found.iter("property")}
    assert facts["tool_trajectory_avg_score"] == "0.7"
    assert facts["tool_trajectory_avg_score threshold"] == "0.9"
    assert (facts["outcome"], facts["trials"], facts["trials_passed"], facts["flaky"]) == (
        "failed",
        "5",
        "2",
        "true",
    )
    assert found.get("time") == "2.500"


def test_passed_case_names_its_failed_trial() -> None:
    passed = case("a", P, trials=[trial(0, P), trial(1, F)])
    passed.missed = "trial 2: response_match_score 0.40 < 0.8"
    assert cases(written(run(passed)))["a"].findtext("system-out") == passed.missed


def _at(place: str) -> CaseResult:
    found = good("a")
    found.place = place
    return found


def test_file_and_line_are_relative_to_the_root_of_the_working_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "evals" / "travel"
    folder.mkdir(parents=True)
    (folder / "b.evalset.json").write_text("{}")
    monkeypatch.chdir(folder)
    for place in ("b.evalset.json:12", f"{folder}/b.evalset.json:12", "../travel/b.evalset.json:12"):
        found = cases(written(run(_at(place))))["a"]
        assert (found.get("file"), found.get("line")) == ("evals/travel/b.evalset.json", "12"), place
    found = cases(written(run(_at("gone.evalset.json:3"))))["a"]
    assert (found.get("file"), found.get("line")) == ("gone.evalset.json", "3")


# --- names ---------------------------------------------------------------------------------------------------------------


def test_names_are_agent_set_and_case_and_nothing_that_changes() -> None:
    first, second = run(good("a"), wrong_covers()), run(good("a"), wrong_covers(), good("new"))
    second.run_id, second.started_at, second.num_runs = "7f3k2cdghj", 1.7e9, 3
    names = [
        [(each.get("classname"), each.get("name")) for each in written(result).iter("testcase")]
        for result in (first, second)
    ]
    assert names[0] == [("travel_agent.booking", "a"), ("travel_agent.booking", "two_turn_booking")]
    assert names[1][:2] == names[0]


def test_two_of_one_name_are_both_there() -> None:
    result = run(good("a"), case("a", F), case("a\x1b", F), case("a\\x1b", P))
    result.sets.append(result.sets[0])
    assert [*cases(written(result))] == ["a", "a #2", "a\\x1b", "a\\x1b #2"]
    alone = run(case("a\x1b", F), case("a\\x1b", P), case("x" * 2000, F), case("x" * 2001, P))
    assert len(cases(written(alone))) == 4
    assert [*cases(written(run(good("a")), run(good("a"))))] == ["a", "a #2"]


def test_several_agents_have_separate_suites() -> None:
    document = written(run(good("a"), agent="v1"), run(good("a"), agent="v2"))
    assert [each.get("name") for each in document] == ["v1.booking", "v2.booking"]
    assert len({(each.get("classname"), each.get("name")) for each in document.iter("testcase")}) == 2


# --- texts of strangers --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@for_each_text(GROUPS)
def test_hostile_texts_everywhere(text: str) -> None:
    written(everywhere(text))
    assert bad_characters(text_of(everywhere(text), verbose=True)) == set()


def _in_names_and_bodies(text: str) -> RunResult:
    said = MetricScore(0.0, [Score(0.0, reason=text, details={"text": {"expected": text, "actual": "x"}})])
    failed = case(text, F, metric("m", [said]), reason=text)
    broken = case(
        f"e{text}",
        E,
        reason=text,
        trials=[trial(0, E, failure=Failure(where="agent", message=text, type=text))],
    )
    return run(failed, broken, agent=text)


@pytest.mark.nightly(check=12)
@pytest.mark.parametrize("start", range(0, 0x110000, 0x4000), ids=lambda start: f"U+{start:04X}")
def test_every_code_point_in_names_and_bodies(start: int) -> None:
    step = 64 if start < 0x10000 else 2048
    for first in range(start, start + 0x4000, step):
        document = written(_in_names_and_bodies("".join(map(chr, range(first, first + step)))))
        assert len(document.findall(".//testcase")) == 2


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=[]), max_size=40))
def test_any_text(text: str) -> None:
    document = written(_in_names_and_bodies(text))
    assert len(document.findall(".//testcase")) == 2


@pytest.mark.parametrize(
    "text", ["]]>", "<![CDATA[", "</failure></testcase>", "&lt;", "&#0;", '"/><error', "<!--", "<?x?>"]
)
def test_markup_is_text(text: str) -> None:
    found = cases(written(_in_names_and_bodies(text)))
    assert [*found] == [text, f"e{text}"]
    assert text in (found[text].findtext("failure") or "")


@pytest.mark.slow
def test_a_body_of_ten_megabytes_is_cut() -> None:
    result = _in_names_and_bodies("x" * 10_000_000)
    assert len(text_of(result)) < 2 * LONGEST_TEXT + 40 * LONGEST_NAME
    written(result)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii", "cp1252"])
def test_any_stream_can_take_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    load_report("junit").write([run(case("caffè 🍕", F, reason="naïve 日本"))], out)
    out.flush()
    (found,) = ET.fromstring(raw.getvalue()).iter("testcase")
    assert found.get("name") == "caffè 🍕"
    assert found.find("failure").get("message") == "naïve 日本"  # type: ignore[union-attr]  # or the test fails


def test_the_schema_refuses_what_is_not_ours() -> None:
    for text in ("<testsuites/>", re.sub(r' name="a"', "", text_of(run(good("a"))))):
        assert not SCHEMA.validate(etree.fromstring(text.encode()))
