"""The agent's source covers the project's modules that it imports: an edited one is named by `resume` and `compare`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import list_runs, open_store
from proctor.agents.load import load_agent
from proctor.runs.setup.manifest import agent_manifest
from proctor.schema.results.manifest import AgentManifest, Manifest
from tests.cli.project import case, in_this_process, make_project

EVAL = ("eval", "slow.py", "cases.evalset.json")
FILES = {
    "slow.py": "from parcel import label\n\ndef root_agent(message):\n"
    "    import late_parcel\n"
    "    return {'tool_calls': [{'name': 'look', 'args': {'at': message}}], 'text': label(message)}\n",
    "parcel.py": "from post.stamp import STAMP\n\ndef label(message):\n    return f'You sent {message}.{STAMP}'\n",
    "post/__init__.py": "",
    "post/stamp.py": "STAMP = ''\n",
    "late_parcel.py": "LATE = 1\n",
    "unused_parcel.py": "UNUSED = 1\n",
    "installed/site-packages/foreign_parcel.py": "FOREIGN = 1\n",
}
IMPORTED = ["late_parcel.py", "parcel.py", "post/__init__.py", "post/stamp.py"]
NOT_COVERED = ["unused_parcel.py", "installed/site-packages/foreign_parcel.py"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent of one file, `desk/slow.py`, that imports two modules and, through one of them, a package."""
    folder, before = tmp_path / "desk", set(sys.modules)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    make_project(folder, case("one", "one", answer="Nothing at all."), case("two", "two"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder / "installed/site-packages")])
    yield folder
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def edit(file: Path) -> None:
    file.write_text(f"{file.read_text()}\n# edited\n")


def interrupted() -> None:
    """Leave a run of which the second case was not reached, as the first one fails."""
    assert in_this_process(*EVAL, "-x", "--concurrency", "1").returncode == 1


def last_manifest() -> Manifest:
    return open_store().manifest(list_runs()[0].run_id)


@pytest.mark.parametrize("agent", ["slow.py", "slow.py:root_agent", "slow", "cmd:python slow.py"])
def test_imports_are_known_whether_or_not_the_agent_is_loaded_here(project: Path, agent: str) -> None:
    assert sorted(agent_manifest(agent, "slow").modules or ()) == IMPORTED


def test_same_modules_are_known_before_and_after_loading(project: Path) -> None:
    before = agent_manifest("slow.py", "slow").modules
    assert in_this_process(*EVAL).returncode == 1
    assert last_manifest().agent.modules == before == agent_manifest("slow.py", "slow").modules


def test_folder_also_covers_what_it_imports_from_elsewhere(project: Path) -> None:
    (project / "clerk").mkdir()
    (project / "clerk/agent.py").write_text("from . import desk\nfrom parcel import label as root_agent\n")
    (project / "clerk/desk.py").write_text("")
    assert sorted(agent_manifest("clerk", "clerk").modules or ()) == [
        "../parcel.py",
        "../post/__init__.py",
        "../post/stamp.py",
    ]


def test_a_late_import_through_folders_without_init_is_covered(project: Path) -> None:
    (project / "depot/north").mkdir(parents=True)
    (project / "depot/north/shelf.py").write_text("SHELF = 1\n")
    (project / "store.py").write_text(
        "def root_agent(text):\n    from depot.north import shelf\n    return text\n"
    )
    assert list(agent_manifest("store.py", "store").modules or ()) == ["depot/north/shelf.py"]


def test_what_else_was_imported_from_the_package_does_not_count(project: Path) -> None:
    (project / "mail").mkdir()
    for name in ("__init__", "first", "other"):
        (project / f"mail/{name}.py").write_text("def root_agent(text):\n    return text\n")
    load_agent("mail/first.py")
    load_agent("mail/other.py")
    assert list(agent_manifest("mail/first.py", "first").modules or ()) == ["__init__.py"]


@pytest.mark.parametrize("file", IMPORTED)
def test_edited_import_is_named_and_not_mixed(project: Path, file: str) -> None:
    interrupted()
    edit(project / file)
    done = in_this_process("resume")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the source of the agent slow has changed: {file}" in done.stderr
    forced = in_this_process("resume", "--force")
    assert forced.returncode == 1
    assert f"WARNING  resumed although the source of the agent slow has changed: {file}" in forced.stdout


@pytest.mark.parametrize("file", [None, *NOT_COVERED])
def test_run_is_resumed_if_no_import_was_edited(project: Path, file: str | None) -> None:
    (project / "slow.py").write_text(f"import foreign_parcel\n{FILES['slow.py']}")
    interrupted()
    if file is not None:
        edit(project / file)
    done = in_this_process("resume")
    assert (done.returncode, done.stderr, "WARNING" in done.stdout) == (1, "", False)


def test_run_of_a_version_that_did_not_follow_imports_is_resumed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as former:
        former.setattr("proctor.runs.setup.manifest._modules", lambda *_: None)
        interrupted()
    assert last_manifest().agent.modules is None
    done = in_this_process("resume")
    assert (done.returncode, done.stderr, "WARNING" in done.stdout) == (1, "", False)


@pytest.mark.slow
def test_comparison_names_the_edited_import(project: Path) -> None:
    assert in_this_process(*EVAL).returncode == 1
    assert in_this_process(*EVAL).returncode == 1
    assert "DIFFERS" not in in_this_process("compare", "latest~1", "latest").stdout
    edit(project / "post/stamp.py")
    assert in_this_process(*EVAL).returncode == 1
    told = in_this_process("compare", "latest~1", "latest").stdout
    assert "the source of the agent slow has changed: post/stamp.py" in told
    assert "DIFFERS" in told
    builds = [open_store().manifest(run.run_id).agent.build for run in list_runs()]
    assert builds[0] != builds[1] == builds[2]


CHANGES: dict[str, tuple[dict[str, str] | None, dict[str, str] | None, str]] = {
    "a new one": ({}, {"a.py": "1"}, ": a.py"),
    "a removed one": ({"a.py": "1", "b.py": "1"}, {"b.py": "1"}, ": a.py"),
    "many": ({}, dict.fromkeys("abcdefg", "1"), ": a, b, c, d, e, …"),
    "unknown before": (None, {"a.py": "1"}, ""),
    "unknown now": ({"a.py": "1"}, None, ""),
}


@pytest.mark.parametrize(("before", "now", "named"), CHANGES.values(), ids=CHANGES)
def test_change_of_modules(before: dict[str, str] | None, now: dict[str, str] | None, named: str) -> None:
    was, is_now = (AgentManifest(label="desk", source_hash="s", modules=one) for one in (before, now))
    assert was.source_change(is_now) == (f"the source of the agent desk has changed{named}" if named else "")


def test_manifest_of_an_older_version_has_unknown_modules_and_the_same_build() -> None:
    former = AgentManifest.model_validate({"label": "desk", "source_hash": "s"})
    assert (former.modules, former.build) == (None, "s")
    assert AgentManifest(label="desk", source_hash="s", modules={}).build == "s"
