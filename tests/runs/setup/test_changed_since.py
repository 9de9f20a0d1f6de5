"""`changed_since`: only the cases whose content is another one than at a commit."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import proctor
from proctor.errors import NothingToRunError, SetupError, SetupProblems
from proctor.runs.setup.changed_since import CommitFiles

SETS = ("a.evalset.json", "sub/b.evalset.json")


def case(eval_id: str, text: str = "hello") -> dict[str, Any]:
    turn = {
        "user_content": {"role": "user", "parts": [{"text": text}]},
        "final_response": {"role": "model", "parts": [{"text": text}]},
        "intermediate_data": {"tool_uses": [], "intermediate_responses": []},
    }
    return {"eval_id": eval_id, "conversation": [turn]}


def write(name: str, *cases: dict[str, Any], indent: int | None = 1) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"eval_set_id": path.name[0], "eval_cases": cases}, indent=indent))


def config(path: str, threshold: float = 0.5) -> None:
    Path(path).write_text(json.dumps({"criteria": {"response_match_score": threshold}}))


def git(*arguments: str) -> str:
    who = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.com",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ]
    done = subprocess.run(["git", *who, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit() -> str:
    git("add", "-A")
    git("commit", "-q", "-m", "x", "--allow-empty")
    return git("rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two sets, three cases each, and a config."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    for name in SETS:
        write(name, case("one"), case("two"), case("three"))
    config("test_config.json")
    commit()
    return tmp_path


def run(*sets: str, since: str = "HEAD", **options: Any) -> list[str]:
    """The cases that are run."""
    result = proctor.evaluate_sync(
        lambda message: message, list(sets or SETS), changed_since=since, **options
    )
    assert not result.failure
    return [f"{one.eval_set_id}/{one.eval_id}" for one in result.cases]


def warnings_of(*sets: str, since: str = "HEAD", **options: Any) -> list[str]:
    result = proctor.evaluate_sync(
        lambda message: message, list(sets or SETS), changed_since=since, **options
    )
    return result.warnings


ALL_A, ALL_B = ["a/one", "a/two", "a/three"], ["b/one", "b/two", "b/three"]


# --- cases ---------------------------------------------------------------------------------------------------------------


def test_unchanged_sets_are_not_a_result(project: Path) -> None:
    head = git("rev-parse", "--short=12", "HEAD")
    with pytest.raises(NothingToRunError) as raised:
        run()
    assert str(raised.value) == f"no case has changed since 'HEAD' ({head}): all 6 are as they were"


def _edit() -> None:
    write(SETS[0], case("one"), case("two", "other words"), case("three"))


def _add() -> None:
    write(SETS[0], case("zero"), case("one"), case("two"), case("three"))


def _move() -> None:
    write(SETS[0], case("three"), case("one"), case("two", "x"))


def _rename() -> None:
    write(SETS[0], case("one"), case("second"), case("three"))


def _everything_otherwise() -> None:
    write(SETS[0], case("three"), case("two"), case("one"), indent=None)
    Path(SETS[1]).write_text(Path(SETS[1]).read_text().replace("eval_id", "evalId") + "\n\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_edit, ["a/two"]),
        (_add, ["a/zero"]),
        (_move, ["a/two"]),
        (_rename, ["a/second"]),
        (_everything_otherwise, []),
    ],
    ids=["a text", "a case more", "another order", "another id", "another spelling"],
)
def test_what_counts_is_the_content_of_a_case(
    project: Path, change: Callable[[], None], expected: list[str]
) -> None:
    change()
    if expected:
        assert run() == expected
    else:
        with pytest.raises(NothingToRunError):
            run()
    before = git("rev-parse", "HEAD")
    commit()
    if expected:
        assert run(since=before) == run(since="HEAD~1") == expected
    with pytest.raises(NothingToRunError):
        run(since="HEAD")


def test_warning_names_the_chosen_cases(project: Path) -> None:
    _edit()
    head = git("rev-parse", "--short=12", "HEAD")
    assert warnings_of() == [f"changed since 'HEAD' ({head}): 1 of 6 cases; the others are as they were"]


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("cases", "changed", "message"),
    [
        (2, 1, "1 of 2 cases; the other is as it was"),
        (1, 1, "1 of 1 case"),
        (1, 0, "the one there is, is as it was"),
        (2000, 1286, "1,286 of 2,000 cases; the others are as they were"),
    ],
)
def test_it_counts_in_words_that_fit(project: Path, cases: int, changed: int, message: str) -> None:
    write(SETS[0], *(case(str(number), "hello") for number in range(cases)))
    commit()
    write(
        SETS[0],
        *(case(str(number), "other words" if number < changed else "hello") for number in range(cases)),
    )
    if changed:
        assert warnings_of(SETS[0])[0].endswith(f": {message}")
    else:
        with pytest.raises(NothingToRunError, match=message):
            run(SETS[0])


@pytest.mark.parametrize(
    ("prepare", "sets", "why"),
    [
        (lambda: write("new.evalset.json", case("one")), ["new.evalset.json"], "the file is new"),
        (
            lambda: (git("mv", SETS[0], "c.evalset.json"), git("commit", "-q", "-m", "x")),
            ["c.evalset.json"],
            "",
        ),
    ],
    ids=["not in git", "renamed"],
)
def test_a_new_file_is_run_whole(
    project: Path, prepare: Callable[[], Any], sets: list[str], why: str
) -> None:
    before = git("rev-parse", "HEAD")
    prepare()
    warnings = warnings_of(*sets, since=before)
    assert warnings[1] == f"{sets[0]}: every case is run: the file is new"


@pytest.mark.slow
def test_what_the_file_was_may_be_unreadable(project: Path) -> None:
    good = Path(SETS[0]).read_text()
    Path(SETS[0]).write_text("{broken")
    commit()
    Path(SETS[0]).write_text(good)
    assert run() == ALL_A
    assert warnings_of()[1] == f"{SETS[0]}: every case is run: what the file was cannot be read"


def test_file_that_git_assumes_unchanged_is_compared(project: Path) -> None:
    git("update-index", "--assume-unchanged", SETS[0])
    _edit()
    assert run() == ["a/two"]


def test_other_forms_of_sets(project: Path) -> None:
    lines = [
        {"eval_id": f"l{n}", **{key: value for key, value in case("x").items() if key != "eval_id"}}
        for n in range(3)
    ]
    Path("l.evalset.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("y.evalset.yaml").write_text(
        json.dumps({"eval_set_id": "y", "eval_cases": [case("one"), case("two")]})
    )
    commit()
    lines[1] = {**case("l1", "changed")}
    Path("l.evalset.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("y.evalset.yaml").write_text(
        json.dumps({"eval_set_id": "y", "eval_cases": [case("one"), case("two", "now")]})
    )
    found = run("l.evalset.jsonl", "y.evalset.yaml")
    assert [name.partition("/")[2] for name in found] == ["l1", "two"]


@pytest.mark.slow
def test_from_any_folder_and_by_any_spelling(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(SETS[1], case("one", "new"), case("two"), case("three"))
    assert run(str(project / SETS[1])) == ["b/one"]
    monkeypatch.chdir(project / "sub")
    assert run("b.evalset.json") == run("../sub/b.evalset.json") == ["b/one"]
    (project / "link").symlink_to(project / "sub")
    assert run(str(project / "link" / "b.evalset.json")) == ["b/one"]


def test_inside_of_a_hook_of_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _edit()
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert run() == ["a/two"]


# --- configs -------------------------------------------------------------------------------------------------------------


def test_another_config_is_another_judgement_of_every_case(project: Path) -> None:
    config("test_config.json", 0.6)
    assert run() == ALL_A + ALL_B
    assert warnings_of()[1:] == [
        f"{name}: every case is run: its config test_config.json has changed" for name in SETS
    ]


def test_reformatted_config_is_unchanged(project: Path) -> None:
    Path("test_config.json").write_text('{"criteria":\n {"response_match_score":   0.50}}')
    with pytest.raises(NothingToRunError):
        run()


@pytest.mark.slow
def test_a_config_that_is_new_is_another_one(project: Path) -> None:
    config("sub/test_config.json")
    assert run() == ALL_B
    assert warnings_of()[1] == f"{SETS[1]}: every case is run: its config sub/test_config.json is new"


@pytest.mark.slow
def test_deleted_config_is_reported(project: Path) -> None:
    config("sub/test_config.json", 0.7)
    commit()
    Path("sub/test_config.json").unlink()
    assert run() == ALL_B
    Path("test_config.json").unlink()
    assert run() == ALL_A + ALL_B
    assert "scored it, and does not exist any more" in warnings_of()[1]


@pytest.mark.slow
def test_a_config_that_is_given_counts_instead(project: Path) -> None:
    config("strict.json", 0.9)
    commit()
    config("test_config.json", 0.6)
    with pytest.raises(NothingToRunError):
        run(config="strict.json")
    config("strict.json", 0.8)
    assert run(config="strict.json") == ALL_A + ALL_B


def test_config_from_python_has_no_history_with_a_warning(project: Path) -> None:
    _edit()
    config("test_config.json", 0.6)
    given = {"criteria": {"response_match_score": 0.1}}
    assert run(config=given) == ["a/two"]
    assert "the config was given in Python" in warnings_of(config=given)[1]


def test_a_config_that_was_unreadable_is_another_one(project: Path) -> None:
    Path("test_config.json").write_text("{")
    commit()
    config("test_config.json")
    assert run() == ALL_A + ALL_B


# --- together with other choices -----------------------------------------------------------------------------------------


def test_with_cases_that_are_picked(project: Path) -> None:
    write(SETS[0], case("one", "x"), case("two", "x"), case("three"))
    assert run(f"{SETS[0]}:two,three") == ["a/two"]
    assert run(only={"a": ["one", "three"]}) == ["a/one"]
    with pytest.raises(SetupProblems, match="no case 'tow'"):
        run(f"{SETS[0]}:tow,three")


@pytest.mark.slow
def test_with_shards(project: Path) -> None:
    write(SETS[0], *(case(f"n{n}") for n in range(20)), case("one"))
    shards = []
    for number in (1, 2, 3):
        shards += run(shard=f"{number}/3")
    assert sorted(shards) == sorted(run()) == sorted(f"a/n{n}" for n in range(20))


def test_unreadable_set_is_an_error_without_changes(project: Path) -> None:
    Path("broken.evalset.json").write_text("{")
    with pytest.raises(SetupProblems):
        run(*SETS, "broken.evalset.json")
    result = proctor.evaluate_sync(
        lambda message: message, [*SETS, "broken.evalset.json"], changed_since="HEAD", keep_going=True
    )
    assert result.exit_code == 3


# --- what is wrong -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ref",
    ["nope", "", "HEAD~9", "-h", "--all", "HEAD:a.evalset.json", "main^{tree}", "a b", "..", "HEAD..HEAD"],
)
def test_a_commit_that_is_not_there(project: Path, ref: str) -> None:
    with pytest.raises(SetupProblems) as raised:
        run(since=ref)
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"changed since {ref!r}: no such commit in the git repository ")
    assert "fetch-depth: 0" in str(problem)


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write(SETS[0], case("one"))
    with pytest.raises(SetupProblems) as raised:
        run(SETS[0])
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"changed since 'HEAD': {tmp_path} is in no git repository")


def test_no_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(SetupProblems, match="`git` is not installed"):
        run()


def test_a_set_from_python(project: Path) -> None:
    made = {"eval_set_id": "made", "eval_cases": [case("one")]}
    with pytest.raises(SetupProblems, match="the eval set 'made' was made in Python"):
        proctor.evaluate_sync(lambda message: message, made, changed_since="HEAD")


def test_other_problems_are_reported_in_addition(project: Path) -> None:
    with pytest.raises(SetupProblems) as raised:
        run(num_runs=0)
    assert [str(problem) for problem in raised.value.problems] == ["num_runs must be at least 1, got 0"]
    with pytest.raises(SetupProblems) as raised:
        run(since="nope", num_runs=0)
    assert len(raised.value.problems) == 2


def test_a_commit_must_be_text() -> None:
    made, three = {"eval_set_id": "s", "eval_cases": [case("a")]}, cast("str", 3)
    with pytest.raises(SetupError, match="changed_since must be the name of a commit"):
        proctor.evaluate_sync(lambda message: message, made, changed_since=three)


# --- resuming ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_resumed_run_has_the_same_cases_although_the_branch_has_moved(project: Path) -> None:
    write(SETS[0], case("one", "x"), case("two", "x"), case("three"), case("four"))
    Path("agent.py").write_text("def root_agent(message):\n    return message\n")
    result = proctor.evaluate_sync(
        "agent.py", list(SETS), changed_since="HEAD", shard="1/1", store="sqlite:///s.sqlite3", max_failures=1,
        setup=_broken, concurrency=1,
    )  # fmt: skip
    assert result.stopped_by
    assert len(result.cases) == 3
    manifest = proctor.open_store("sqlite:///s.sqlite3").manifest(result.run_id)
    assert manifest.options["changed_since"] == git("rev-parse", "HEAD")
    assert manifest.options["shard"] == "1/1"
    commit()
    resumed = proctor.resume_sync(result.run_id, store="sqlite:///s.sqlite3", retry_errors=True)
    assert [one.eval_id for one in resumed.cases] == ["one", "two", "four"]


_calls: list[int] = []


def _broken() -> None:
    _calls.append(1)
    if len(_calls) == 1:
        raise RuntimeError("not yet")


def test_the_files_of_a_commit_are_known(project: Path) -> None:
    then = CommitFiles("HEAD")
    assert then.is_in_commit(project / SETS[0])
    assert not then.is_in_commit(project / "other.json")
    assert then.content(project / SETS[0]) == (project / SETS[0]).read_bytes()
    assert then.content(project / "other.json") is None
    assert then.commits == [git("rev-parse", "HEAD")]
