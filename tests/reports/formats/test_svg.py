"""The picture of a run: whole numbers as text, the bins of the page, bounded size, and a Markdown report that shows it."""

import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from proctor.reports.base import load_report
from proctor.reports.formats.svg import MOST_METRICS, MOST_RUNS, bins_of
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import Outcome
from tests.cli.project import in_this_process
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import F, P, case, metric, run
from tests.web.stored_runs import working_in

ROOT = Path(__file__).resolve().parents[3]
VECTORS = json.loads((ROOT / "ui/src/components/charts/binVectors.json").read_text(encoding="utf-8"))
ALLOWED = {"svg", "title", "desc", "style", "rect", "path", "text"}
SPACE = "{http://www.w3.org/2000/svg}"


def written(*results: RunResult) -> str:
    out = io.StringIO()
    load_report("svg").write(list(results), out)
    return out.getvalue()


def texts(*results: RunResult) -> str:
    return "\n".join(ET.fromstring(written(*results)).itertext())


def check_drawing(text: str) -> None:
    """It is ASCII and XML, and has nothing that runs, links or loads."""
    assert text.isascii()
    elements = list(ET.fromstring(text).iter())
    assert {one.tag.removeprefix(SPACE) for one in elements} <= ALLOWED
    assert not [key for one in elements for key in one.attrib if "href" in key or key.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize("vector", VECTORS, ids=[one["name"] for one in VECTORS])
def test_the_bins_are_those_of_the_page(vector: dict[str, Any]) -> None:
    bins = bins_of(vector["values"], shares=vector["shares"])
    assert [bins[0].low, bins[0].high, bins[-1].high, len(bins)] == vector["ends"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), st.booleans())
@example([8.98846567431158e307], False)
def test_every_value_is_in_one_of_at_most_eleven_bins(values: list[float], shares: bool) -> None:
    bins = bins_of(values, [True] * len(values), shares=shares)
    assert len(bins) <= 11
    if bins:
        assert sum(one.count for one in bins) == len(values) == sum(one.missed for one in bins)


def test_it_states_the_counts_and_each_metric_with_its_threshold() -> None:
    picture = texts(run(case("a", P, metric("m", [1.0], 0.8)), case("b", F, metric("m", [0.25], 0.8, F))))
    assert "failed: 1 of 2 cases fails" in picture
    assert "\u2713 1 passed   \u2715 1 failed" in picture
    assert "mean 0.62 \u00b1 0.38 \u00b7 threshold 0.8 \u00b7 missed in 1 of 2" in picture
    assert "0.2 to 0.3: 1 case, 0.9 to 1: 1 case" in picture
    assert 'class="mark"' in written(run(case("a", P, metric("m", [1.0], 0.8))))


def test_the_facts_of_a_metric_end_before_the_next_column() -> None:
    missed, scored = metric("m", [0.25], 0.85, F), metric("m", [1.0], 0.85)
    broken = metric("m", [None], 0.85, Outcome.ERROR)
    cases = [case(f"a{n}", F, one) for n, one in enumerate([missed, scored, broken] * 12)]
    drawn = [one.text or "" for one in ET.fromstring(written(run(*cases))).iter(f"{SPACE}text")]
    facts = drawn[next(at for at, text in enumerate(drawn) if text.startswith("mean ")) :][:2]
    assert " ".join(facts).endswith("\u00b7 threshold 0.85 \u00b7 missed in 12 of 24, 12 in error")
    assert max(map(len, facts)) <= 56  # 330 units in DejaVu Sans of 11 units have room for 59


def test_a_metric_that_could_not_be_computed_is_not_missed() -> None:
    broken = case("c", Outcome.ERROR, metric("m", [None], 0.8, Outcome.ERROR))
    scored = [case("a", P, metric("m", [1.0], 0.8)), case("b", F, metric("m", [0.25], 0.8, F))]
    assert "threshold 0.8 \u00b7 missed in 1 of 2, 1 in error" in texts(run(*scored, broken))
    assert "threshold 0.8 \u00b7 1 in error" in texts(run(broken))
    assert 'rect class="fail"' not in written(
        run(case("c", Outcome.ERROR, metric("m", [1.0], 0.8, Outcome.ERROR)))
    )


def test_an_error_of_the_agent_in_one_trial_leaves_the_case_among_those_that_are_scored() -> None:
    met = case("a", Outcome.ERROR, metric("m", [1.0, None], 0.8, Outcome.ERROR))
    missed = case("b", Outcome.ERROR, metric("m", [0.25, None], 0.8, Outcome.ERROR))
    picture = texts(run(met, missed))
    assert "threshold 0.8 \u00b7 missed in 1 of 2" in picture
    assert "in error" not in picture
    assert "0.2 to 0.3: 1 case, 0.9 to 1: 1 case" in picture


def test_a_long_verdict_or_name_of_an_agent_is_shown_in_lines() -> None:
    name = " ".join(f"agent{at:02}" for at in range(30))
    result = replace(run(case("a", P)), agent=name)
    lines = [one.text or "" for one in ET.fromstring(written(result)).iter(f"{SPACE}text")]
    assert name in " ".join(lines)
    assert all(len(line) <= 96 for line in lines)


def test_its_size_is_bounded_and_it_states_what_is_left_out() -> None:
    metrics = [
        metric(f"m{at:02}{'x' * 3000}", [0.5 if at % 2 else 1.0], 0.5) for at in range(MOST_METRICS + 3)
    ]
    results = [run(*(case(f"c{at}", P, *metrics) for at in range(20))) for _ in range(MOST_RUNS + 2)]
    picture = written(*results)
    assert len(picture) < 200_000
    assert "and 3 more metrics, not drawn" in picture
    assert "and 2 more agents, not drawn" in picture


@for_each_text(GROUPS)
def test_hostile_text_stays_text(text: str) -> None:
    check_drawing(written(everywhere(text)))


@given(runs())
@settings(max_examples=15)
def test_any_run_can_be_drawn(result: RunResult) -> None:
    check_drawing(written(result))


@pytest.mark.parametrize(
    ("markdown", "picture", "shown"),
    [
        ("a.md", "run.svg", "run.svg"),
        ("a.md", "pictures/of run.svg", "pictures/of%20run.svg"),
        ("texts/a.md", "run.svg", None),
        ("a.md", None, None),
    ],
    ids=["in its folder", "below it", "elsewhere: as for a comment", "no picture"],
)
def test_a_markdown_report_shows_the_picture_in_its_folder(
    tmp_path: Path, markdown: str, picture: str | None, shown: str | None
) -> None:
    words = ["eval", str(ROOT / "examples/dice"), str(ROOT / "examples/dice/dice.evalset.json")]
    words += ["--store=memory:", "--make-parents", f"--report=markdown={markdown}"]
    with working_in(tmp_path):
        done = in_this_process(*words, *([f"--report=svg={picture}"] if picture else []))
    assert done.returncode == 0, done.stderr
    found = re.search(r"!\[[^]]+\]\((.*)\)", (tmp_path / markdown).read_text(encoding="utf-8"))
    assert (found and found[1]) == shown
