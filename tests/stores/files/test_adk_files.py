"""`--store adk:DIR`: results where google-adk keeps them, whole or not at all, and nowhere else."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from proctor.errors import StoreError
from proctor.schema.results.run_result import CaseResult
from proctor.stores.adk_history import AdkFiles
from tests.reports.sample_runs import good, run, sketch

URLS = {
    "adk:agents": ("agents", None),
    "adk:./agents": ("agents", None),
    "adk:agents?app=travel": ("agents", "travel"),
    "adk:/srv/my agents": ("/srv/my agents", None),
    "adk:///srv/agents": ("/srv/agents", None),
    "adk:C:\\agents": ("C:\\agents", None),
}


@pytest.mark.parametrize(("url", "meant"), URLS.items())
def test_a_url_names_the_folder_and_maybe_the_app(url: str, meant: tuple[str, str | None]) -> None:
    found = AdkFiles.from_url(url)
    assert (found.agents_dir, found.app_name) == (Path(meant[0]).absolute(), meant[1])


@pytest.mark.parametrize(
    "url", ["adk:", "adk:?app=x", "adk:a?app=", "adk:a?app=..", "adk:a?app=x/y", "adk:a?app=C:x"]
)
def test_a_url_that_names_nothing_or_leads_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match=r"adk: takes the folder|is not a valid name of an agent's folder"):
        AdkFiles.from_url(url)


SLIPS = {
    "adk:a?x=1": r"adk:a\?x=1: behind the folder adk: takes \?app=NAME .*, got \?x=1\.$",
    "adk:a?ap=x": r"got \?ap=x\. Did you mean 'app'\?$",
    "adk:a?": r"got \?\.$",
    "adk:a?app=b&x=1": r"got \?app=b&x=1\.",
    "adk:a?x=1&app=b": r"got \?x=1&app=b\.",
}


@pytest.mark.parametrize(("url", "message"), SLIPS.items(), ids=SLIPS)
def test_what_else_is_asked_for_behind_the_folder_is_refused(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        AdkFiles.from_url(url)


@pytest.mark.parametrize("url", URLS)
def test_location_gives_its_url(url: str) -> None:
    place = AdkFiles.from_url(url)
    assert AdkFiles.from_url(place.url) == place


def test_missing_folder_is_reported_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        AdkFiles(tmp_path / "nowhere").check()
    AdkFiles(tmp_path).check()


_AS_AN_ORDINARY_USER = """
import os, sys
sys.path.insert(0, {source!r})
from pathlib import Path
from proctor.errors import StoreError
from proctor.stores.adk_history import AdkFiles
agents = AdkFiles(Path({agents!r}))
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    agents.check()
except StoreError as error:
    print(error)
"""


@pytest.mark.slow
def test_read_only_folder_is_reported_before_the_run(root: Path) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        agents = Path(folder, "agents")
        agents.mkdir(mode=0o555)
        code = _AS_AN_ORDINARY_USER.format(source=str(root / "src"), agents=str(agents))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"adk:{agents}: no permission to write there\n"


def test_a_file_for_each_set_in_the_history_of_the_agents_folder(tmp_path: Path) -> None:
    result = run(good("a", 2), good("b"), good("c", eval_set_id="other"))
    result.started_at = 1_700_000_000.25
    files = AdkFiles(tmp_path).write(result)
    history = tmp_path / "travel_agent" / ".adk" / "eval_history"
    assert files == [
        history / f"travel_agent_{name}_1700000000.25.evalset_result.json" for name in ("booking", "other")
    ]
    assert sorted(history.iterdir()) == sorted(files)
    counts = [len(json.loads(file.read_text(encoding="utf-8"))["eval_case_results"]) for file in files]
    assert counts == [3, 1]


@pytest.mark.parametrize("order", [["booking", "booking"], ["booking", "other", "booking"]])
def test_two_sets_of_one_id_have_two_files(order: list[str], tmp_path: Path) -> None:
    result = run(*(good(eval_id, eval_set_id=set_id) for set_id in order for eval_id in "ab"))
    result.started_at = 1_700_000_000.25
    files = AdkFiles(tmp_path).write(result)
    assert len(set(files)) == len(order)
    for file, set_id in zip(files, order, strict=True):
        document = json.loads(file.read_text(encoding="utf-8"))
        assert document["eval_set_id"] == set_id
        assert [entry["eval_id"] for entry in document["eval_case_results"]] == ["a", "b"]


NAMES = {
    "pkg.agents.travel": "travel",
    "travel.flawed": "travel",
    "travel": "travel",
    "someone_else": "someone_else",
}


@pytest.mark.parametrize(("agent", "folder"), NAMES.items())
def test_the_agents_own_folder_is_taken_where_it_is_there(agent: str, folder: str, tmp_path: Path) -> None:
    (tmp_path / "travel").mkdir()
    (file,) = AdkFiles(tmp_path).write(run(good("a"), agent=agent))
    assert file.relative_to(tmp_path).parts[0] == folder


def test_rewritten_run_replaces_its_files(tmp_path: Path) -> None:
    """As when it was resumed."""
    half, whole = run(good("a")), run(good("a"), good("b"))
    half.started_at = whole.started_at = 1_700_000_000.5
    (first,), (second,) = AdkFiles(tmp_path).write(half), AdkFiles(tmp_path).write(whole)
    assert first == second
    assert len(json.loads(second.read_text(encoding="utf-8"))["eval_case_results"]) == 2


class Torn(list[CaseResult]):
    """Cases that cannot be read to the end."""

    def __iter__(self) -> Iterator[CaseResult]:
        yield self[0]
        raise RuntimeError("the disk is gone")


def test_incomplete_file_is_removed_and_the_old_one_stays(tmp_path: Path) -> None:
    result = run(good("a"), good("b"))
    result.started_at = 1.5
    (file,) = AdkFiles(tmp_path).write(result)
    before = file.read_bytes()
    result.cases = Torn(result.cases)
    with pytest.raises(RuntimeError):
        AdkFiles(tmp_path).write(result)
    assert [each.read_bytes() for each in file.parent.iterdir()] == [before]


@pytest.mark.parametrize(
    "set_id", ["../../x", "..\\x", "/abs", "a\0b", ".", "C:x", "x" * 400, "e\u0301", "\u202ex", "a\nb"]
)
def test_no_set_id_leads_out_of_the_history(set_id: str, tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    result = sketch(1)
    for case in result.cases:
        case.eval_set_id = set_id
    (file,) = AdkFiles(agents).write(result)
    assert file.resolve().parent == agents / "travel_agent" / ".adk" / "eval_history"
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [file]
    assert json.loads(file.read_text(encoding="utf-8"))["eval_set_id"] == set_id


@pytest.mark.parametrize("app", ["..", ".", "", "a/b", "a\\b", "x\0", "C:x"])
def test_no_app_name_leads_out_of_the_folder(app: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a valid name of an agent's folder"):
        AdkFiles(tmp_path, app)


def test_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "travel_agent").write_text("a file is here", encoding="utf-8")
    with pytest.raises(StoreError, match="the results cannot be written"):
        AdkFiles(tmp_path).write(run(good("a")))


@pytest.mark.slow
def test_writer_reads_the_cases_once_with_one_trial_in_memory_at_a_time(tmp_path: Path) -> None:
    import tracemalloc

    class Many(list[CaseResult]):
        def __init__(self, count: int) -> None:
            self.many, self.passes = count, 0

        def __iter__(self) -> Iterator[CaseResult]:
            self.passes += 1
            return (good(f"c{n}") for n in range(self.many))

    peaks = []
    for count in (20, 400):
        result = run(good("a"))
        result.cases = cases = Many(count)
        tracemalloc.start()
        AdkFiles(tmp_path).write(result)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert cases.passes == 1
    assert peaks[1] < 1.5 * peaks[0]
