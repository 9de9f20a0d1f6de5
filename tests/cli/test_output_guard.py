"""No output file ever takes the place of what Proctor reads or keeps; any other file goes only with --overwrite."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import proctor
from proctor.errors import SetupError
from proctor.runs.output_guard import SUMMARY_VARIABLE, OutputGuard
from proctor.web.pages.built_page import FOLDER
from tests.cli.project import case, copy_of, in_this_process, make_project, write_set
from tests.web.pages.single_file import make_page

STORE = ".proctor/store.sqlite3"


def make_run() -> None:
    """Make a finished run, a baseline of it in the store and in a file, and what a project has next to them."""
    make_project(Path())
    Path("proctor.toml").write_text('agent = "agent.py"\nsets = ["cases.evalset.json"]\n')
    write_set(Path("plain.json"), case("other", "other"))
    Path("strict.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    Path("notes.md").write_text("# my notes\n")
    assert in_this_process("eval").returncode == 0
    assert in_this_process("baseline", "set", "main").returncode == 0
    assert in_this_process("baseline", "export", "main", "main.json").returncode == 0


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a finished run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SUMMARY_VARIABLE, raising=False)
    monkeypatch.setenv(FOLDER, str(make_page(tmp_path.parent / f"{tmp_path.name}_page")))
    return copy_of(make_run, tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the log of the store, which a command that opens the store may write."""
    files = [
        path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


WRITERS: dict[str, Callable[[str], list[str]]] = {
    "eval --report": lambda place: ["eval", "--report", f"json={place}"],
    "score --report": lambda place: ["score", "--report", f"junit={place}"],
    "score-trace --report": lambda place: ["score-trace", "notes.md", "--report", f"json={place}"],
    "resume --report": lambda place: ["resume", "latest", "--report", f"md={place}"],
    "show --report": lambda place: ["show", "--report", f"text={place}"],
    "compare --report": lambda place: ["compare", "--baseline", "main.json", "--report", f"json={place}"],
    "export": lambda place: ["export", "latest", "--format", "jsonl", "--output", place],
    "export adk": lambda place: ["export", "latest", "--format", "adk", "--output", place],
    "baseline export": lambda place: ["baseline", "export", "main", place],
}
KEPT = {
    "the store": STORE,
    "the store's log": f"{STORE}-wal",
    "the store's index": f"{STORE}-shm",
    "a baseline of the store": f"{STORE}.baselines/main.json",
    "the set that ran": "cases.evalset.json",
    "a set of any name": "plain.json",
    "a config": "strict.json",
    "the config that is found": "test_config.json",
    "the settings": "proctor.toml",
    "the agent": "agent.py",
}


@pytest.mark.nightly(check=30)
@pytest.mark.parametrize("place", KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_what_is_read_or_kept_is_never_overwritten(
    ran: Path, writer: Callable[[str], list[str]], place: str
) -> None:
    before, run = contents(ran), proctor.list_runs()[0].run_id
    done = in_this_process(*writer(place), "--overwrite")
    assert (done.returncode, place in done.stderr) == (2, True), done.stderr
    after = contents(ran)
    assert [name for name in before if before[name] != after.get(name)] == []
    assert proctor.list_runs()[0].run_id == run


SCENARIOS = '{"scenarios": [{"starting_prompt": "hi", "conversation_plan": "Say hi."}]}'
WRITTEN = '[{"when": "hi", "say": {"scenarios": [{"starting_prompt": "hi", "conversation_plan": "Say hi.", "tools": []}]}}]'
SESSION = '{"events": [{"author": "user", "content": {"parts": [{"text": "hi"}]}}]}'
GROWING: dict[str, Callable[[str], list[str]]] = {
    "eval-set create": lambda place: ["eval-set", "create", place],
    "eval-set add-case": lambda place: ["eval-set", "add-case", place, "--id", "n", "--ask", "hi", "--expect", "hi"],
    "eval-set add-case --from": lambda place: ["eval-set", "add-case", place, "--from", "plain.json"],
    "eval-set add-scenarios": lambda place: ["eval-set", "add-scenarios", place, "--scenarios-file", "scenarios.json"],
    "eval-set generate": lambda place: [
        "eval-set", "generate", "agent.py", "--guidance", "say hi", "--model", "scripted:writer.json", "--count", "1", "--yes",
        "--out", place,
    ],
    "record": lambda place: ["record", "agent.py", "--into", place, "--id", "n"],
    "record --from-session": lambda place: ["record", "--from-session", "session.json", "--into", place, "--id", "n"],
}  # fmt: skip
IN_STORE = f"{STORE}.baselines/new.evalset.json"


@pytest.fixture
def authored(ran: Path) -> Path:
    (ran / "scenarios.json").write_text(SCENARIOS)
    (ran / "writer.json").write_text(WRITTEN)
    (ran / "session.json").write_text(SESSION)
    return ran


@pytest.mark.nightly(check=20)
@pytest.mark.parametrize(
    "place",
    [STORE, f"{STORE}-wal", IN_STORE, "main.json", "strict.json", "test_config.json", "proctor.toml", "agent.py", "notes.md"],
)  # fmt: skip
@pytest.mark.parametrize("writer", GROWING.values(), ids=GROWING)
def test_a_set_is_made_or_grows_and_is_nothing_else(
    authored: Path, writer: Callable[[str], list[str]], place: str
) -> None:
    before = contents(authored)
    done = in_this_process(*writer(place), stdin="hi\n")
    assert (done.returncode, place in done.stderr) == (2, True), done.stderr
    assert contents(authored) == before
    if place in (STORE, IN_STORE):
        assert "belongs to the store of runs; name another file" in done.stderr


@pytest.mark.parametrize("writer", GROWING.values(), ids=GROWING)
def test_empty_file_becomes_a_set_and_a_missing_folder_only_on_request(
    authored: Path, writer: Callable[[str], list[str]]
) -> None:
    (authored / "new.evalset.json").touch()
    done = in_this_process(*writer("new.evalset.json"), stdin="hi\n")
    assert done.returncode == 0, done.stderr
    assert proctor.load_eval_set("new.evalset.json").eval_set_id == "new"
    refused = in_this_process(*writer("no/where/x.evalset.yaml"), stdin="hi\n")
    assert (refused.returncode, (authored / "no").exists()) == (2, False)
    assert "does not exist; create it, or add --make-parents" in refused.stderr
    done = in_this_process(*writer("no/where/x.evalset.yaml"), "--make-parents", stdin="hi\n")
    assert (done.returncode, (authored / "no/where/x.evalset.yaml").is_file()) == (0, True), done.stderr


def test_a_set_that_is_there_grows_and_is_never_made_again(authored: Path) -> None:
    for name in ("record", "eval-set add-scenarios"):
        done = in_this_process(*GROWING[name]("cases.evalset.json"), stdin="hi\n")
        assert done.returncode == 0, done.stderr
    assert len(proctor.load_eval_set("cases.evalset.json").eval_cases) == 3
    refused = in_this_process("eval-set", "create", "cases.evalset.json")
    assert (refused.returncode, "the file already exists" in refused.stderr) == (2, True)


def test_what_is_recorded_does_not_go_into_the_file_that_it_is_read_from(authored: Path) -> None:
    done = in_this_process("record", "--from-session", "session.json", "--into", "session.json")
    assert (done.returncode, "session.json is read by this command" in done.stderr) == (2, True)


@pytest.mark.parametrize("place", [STORE, "plain.json", "strict.json", "agent.py", "notes.md", "main.json"])
def test_the_table_of_an_agent_evaluator_is_appended_to_such_tables_only(ran: Path, place: str) -> None:
    from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

    def evaluate(output_file: str) -> None:
        AgentEvaluator.evaluate_eval_set(
            lambda text: f"You sent {text}.", proctor.load_eval_set("cases.evalset.json"), {"response_match_score": 0.5},
            num_runs=1, output_file=output_file, print_detailed_results=False,
        )  # fmt: skip

    before = (ran / place).read_bytes()
    with pytest.raises(SetupError, match=r"output_file .*; name another file"):
        evaluate(place)
    assert (ran / place).read_bytes() == before
    for _ in range(2):
        evaluate("tables/all.csv")
    assert (ran / "tables/all.csv").read_text().count("eval_set_id,") == 1


def link_twice(kept: Path, link: Path) -> None:
    link.with_name("first").symlink_to(kept)
    link.symlink_to("first")


DISGUISES: dict[str, Callable[[Path, Path], None]] = {
    "a hard link": os.link,
    "a symbolic link": lambda kept, link: link.symlink_to(kept),
    "a link to a link": link_twice,
}  # fmt: skip


@pytest.mark.nightly(check=5)
@pytest.mark.parametrize("kept", [STORE, "plain.json", "strict.json", "main.json", "agent.py"])
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_links_do_not_hide_what_a_file_is(
    ran: Path, disguise: Callable[[Path, Path], None], kept: str
) -> None:
    disguise(ran / kept, ran / "out.json")
    before = (ran / kept).read_bytes()
    arguments = ["eval", "agent.py", "plain.json", "--config", "strict.json"]
    done = in_this_process(*arguments, "--report", "json=out.json", "--overwrite")
    assert (done.returncode, (ran / kept).read_bytes() == before) == (2, True), done.stderr


def test_a_store_that_does_not_exist_yet_is_none_to_write_a_report_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_project(tmp_path))
    for place in (STORE, ".proctor/STORE.SQLite3", f"{STORE}-wal", "other.db"):
        done = in_this_process(
            "eval", "agent.py", "cases.evalset.json", "--store", "other.db", "--report", f"json={place}",
            "--make-parents",
        )  # fmt: skip
        assert (done.returncode, "belongs to the store" in done.stderr) == (2, True), done.stderr


def test_another_file_needs_overwrite(ran: Path) -> None:
    refused = in_this_process("eval", "--report", "md=notes.md")
    assert refused.returncode == 2
    assert (
        "notes.md exists and is not an earlier md report; name another file, or add --overwrite"
        in refused.stderr
    )
    assert (ran / "notes.md").read_text() == "# my notes\n"
    assert in_this_process("eval", "--report", "md=notes.md", "--overwrite").returncode == 0
    assert (ran / "notes.md").read_text().startswith("### ")


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    "name",
    ["json", "jsonl", "csv", "csv-raw", "adk", "junit", "github", "markdown", "md", "svg", "adk-rs", "text"],
)
def test_an_earlier_report_of_the_kind_is_replaced(ran: Path, name: str) -> None:
    for _ in range(2):
        done = in_this_process("eval", "--report", f"{name}=out")
        assert done.returncode == 0, done.stderr
    other = "junit" if name != "junit" else "json"
    refused = in_this_process("eval", "--report", f"{other}=out")
    assert (refused.returncode, "is not an earlier" in refused.stderr) == (2, True)


@pytest.mark.parametrize("name", ["json", "markdown", "md", "text"])
def test_an_earlier_comparison_of_the_kind_is_replaced(ran: Path, name: str) -> None:
    in_this_process("eval")
    for _ in range(2):
        done = in_this_process("compare", "--report", f"{name}=out")
        assert (done.returncode, (ran / "out").exists()) == (0, True), done.stderr


def test_a_report_of_several_agents_is_replaced(ran: Path) -> None:
    (ran / "second.py").write_text((ran / "agent.py").read_text())
    for _ in range(2):
        done = in_this_process(
            "eval", "--agent", "agent.py", "--agent", "second.py", "--report", "text=out.txt"
        )
        assert done.returncode == 0, done.stderr


def test_an_exported_baseline_is_replaced_by_the_next(ran: Path) -> None:
    assert in_this_process("baseline", "export", "main", "main.json").returncode == 0
    refused = in_this_process("baseline", "export", "main", "notes.md")
    assert (refused.returncode, "add --overwrite" in refused.stderr) == (2, True)


def test_empty_files_may_be_written(ran: Path) -> None:
    (ran / "out.json").touch()
    assert in_this_process("eval", "--report", "json=out.json").returncode == 0
    assert (ran / "out.json").read_text().startswith('{"proctor_report"')


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_pipes_and_devices_may_be_written(ran: Path) -> None:
    os.mkfifo(ran / "pipe")
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append((ran / "pipe").read_text()))
    reader.start()
    done = in_this_process("eval", "--report", "json=pipe", "--report", "md=/dev/null")
    reader.join()
    assert (done.returncode, texts[0][:18]) == (0, '{"proctor_report":')


def test_the_summary_of_a_step_is_appended_to(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = ran / "summary.md"
    summary.write_text("# of another tool\n")
    monkeypatch.setenv(SUMMARY_VARIABLE, str(summary))
    for _ in range(2):
        assert in_this_process("eval", "--report", f"markdown={summary}").returncode == 0
    text = summary.read_text()
    assert (text.startswith("# of another tool\n"), text.count("\n### ")) == (True, 2)


PARENTS: dict[str, list[str]] = {
    "eval --report": ["eval", "--report", "json=no/where/out"],
    "show --report": ["show", "--report", "html=no/where/out"],
    "compare --report": ["compare", "--report", "md=no/where/out"],
    "export": ["export", "latest", "--format", "csv", "--output", "no/where/out"],
    "export adk": ["export", "latest", "--format", "adk", "--output", "no/where/out"],
    "baseline export": ["baseline", "export", "main", "no/where/out"],
    "convert": ["convert", "plain.json", "no/where/out.yaml"],
    "migrate": ["migrate", "old.json", "no/where/out.json"],
}


@pytest.mark.parametrize("arguments", PARENTS.values(), ids=PARENTS)
def test_a_missing_folder_is_made_only_when_asked_for(ran: Path, arguments: list[str]) -> None:
    (ran / "old.json").write_text('[{"query": "q", "reference": "r"}]')
    in_this_process("eval")
    refused = in_this_process(*arguments)
    assert (refused.returncode, (ran / "no").exists()) == (2, False)
    assert "does not exist; create it, or add --make-parents" in refused.stderr
    done = in_this_process(*arguments, "--make-parents")
    assert "does not exist" not in done.stderr
    assert (ran / "no" / "where").is_dir() or "html" in arguments[-1]


@pytest.mark.parametrize("command", ["convert", "migrate"])
@pytest.mark.parametrize("place", ["strict.json", "main.json", STORE, "test_config.json", "old.json"])
def test_a_converted_set_replaces_sets_at_most(ran: Path, command: str, place: str) -> None:
    (ran / "old.json").write_text('[{"query": "q", "reference": "r"}]')
    before = (ran / place).read_bytes()
    done = in_this_process(command, "old.json", place, "--overwrite")
    assert (done.returncode, (ran / place).read_bytes() == before) == (2, True), done.stderr


def test_python_writes_by_the_same_rule(ran: Path) -> None:
    run = proctor.load_run()
    for place in (STORE, "plain.json", "main.json"):
        with pytest.raises(SetupError, match=r"never overwritten|belongs to the store"):
            proctor.export_run(run, "json", place, overwrite=True)
    for place in (STORE, "plain.json"):
        with pytest.raises(SetupError, match=r"never overwritten|belongs to the store"):
            proctor.export_baseline("main", place, overwrite=True)
    with pytest.raises(SetupError, match="make_parents=True"):
        proctor.export_run(run, "json", "no/where.json")
    with pytest.raises(SetupError, match="overwrite=True"):
        proctor.export_run(run, "json", "notes.md")


@pytest.fixture
def agent_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "my_agent"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    make_project(folder)
    return folder


@pytest.mark.parametrize("name", ["prompt.md", ".env", "tools.txt", "prompts/system.txt"])
def test_files_of_an_agent_are_never_overwritten(agent_folder: Path, name: str) -> None:
    file = agent_folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("be kind")
    done = in_this_process(
        "eval", "my_agent", "my_agent/cases.evalset.json", "--report", f"text={file}", "--overwrite"
    )
    assert (done.returncode, file.read_text()) == (2, "be kind"), done.stderr


def test_a_file_that_changes_during_the_run_is_checked_again(tmp_path: Path) -> None:
    guard = OutputGuard()
    guard.check(tmp_path / "out.json", "json")
    write_set(tmp_path / "out.json", case("a", "b"))
    with pytest.raises(SetupError, match="never overwritten"), guard.open(tmp_path / "out.json", "json"):
        pass


@pytest.mark.parametrize("place", [STORE, "plain.json", "strict.json", "notes.md"])
def test_received_traces_are_appended_to_traces_only(ran: Path, place: str) -> None:
    before = (ran / place).read_bytes()
    done = in_this_process("trace", "receive", place, "--listen", "127.0.0.1:0")
    assert (done.returncode, (ran / place).read_bytes() == before) == (2, True), done.stderr
