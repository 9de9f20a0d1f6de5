"""The web page as one file: it is whole, it loads nothing, and it has what the server would have answered."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from proctor.errors import SetupError
from proctor.reports.base import load_report
from proctor.schema.results.run_result import RunResult
from proctor.web.pages.built_page import FOLDER
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import HOSTILE, everywhere
from tests.web.pages.single_file import Read, make_page


@pytest.fixture(scope="module", autouse=True)
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A page as the build leaves it, but small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(make_page(tmp_path_factory.mktemp("page") / "page")))
        yield


def written(found: Sequence[RunResult]) -> Read:
    out = io.StringIO()
    load_report("html").write(found, out)
    return Read(out.getvalue())


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(runs())
def test_has_every_case_and_every_trial(run: RunResult) -> None:
    read = written([run])
    (row,) = read.get("/api/runs")["items"]
    path = f"/api/runs/{row['run_id']}"
    assert read.head["start"] == path.removeprefix("/api")
    reported = read.get(path)
    assert (reported["outcome"], reported["cases"]) == (run.outcome, len(run.cases))
    rows = read.get(f"{path}/cases")["items"]
    assert [one["outcome"] for one in rows] == [case.outcome for case in run.cases]
    for position, case in enumerate(run.cases):
        here = f"{path}/cases/{position}"
        assert read.get(here)["outcome"] == case.outcome
        for trial in case.trials:
            assert read.get(f"{here}/trials/{trial.number}")["outcome"] == trial.outcome
            assert read.get(f"{here}/trials/{trial.number}/spans")["number"] == trial.number
            assert "judges" in read.get(f"{here}/trials/{trial.number}/judges")


def test_several_runs_begin_with_the_list_of_them() -> None:
    read = written([RunResult("one"), RunResult("two")])
    assert read.head["start"] == "/runs"
    assert [one["agent"] for one in read.get("/api/runs")["items"]] == ["one", "two"]


def test_allows_its_own_script_and_style_and_nothing_else() -> None:
    text = written([RunResult("agent")]).text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for source in (script, style):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert not re.findall(r'(?:src|href)="(?!data:)', text)


def test_the_licences_of_what_the_script_holds_go_with_it() -> None:
    assert "<!--\nOne - -> two\n-->" in written([RunResult("agent")]).text


def test_the_script_cannot_end_itself() -> None:
    assert r'"<\/script><\!-- ünïcode"' in written([RunResult("agent")]).text


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", *HOSTILE[::9]])
def test_text_of_agents_is_never_in_the_markup(text: str) -> None:
    before = written([everywhere("harmless")]).text
    assert Read(before).text.count("<") == written([everywhere(text)]).text.count("<")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("</script><!--", "</script><!--"),
        ("a\u2028b\u2029\x85", "a\u2028b\u2029\x85"),
        ("\0\x1b[2J\u202e", "\0\x1b[2J\u202e"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
    ],
    ids=["markup", "ends of lines", "controls", "halves of characters"],
)
def test_text_of_agents_reaches_the_page_whole(text: str, shown: str) -> None:
    read = written([everywhere(text)])
    (row,) = read.get("/api/runs")["items"]
    path = f"/api/runs/{row['run_id']}/cases"
    assert read.get(path)["items"][0]["eval_id"] == shown
    trial = read.get(f"{path}/0/trials/0")
    assert (trial["notes"], trial["turns"][0]["user"]["text"]) == ([shown], shown)


def test_without_a_built_page_it_shows_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(SetupError, match="make ui"):
        load_report("html")
