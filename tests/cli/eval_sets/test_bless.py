"""`proctor bless`: the difference first, then the file, after a confirmation."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.project import case, in_this_process, make_project, write_set
from tests.web.stored_runs import working_in


@pytest.fixture(autouse=True)
def _failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_project(tmp_path, case("right", "hello"), case("wrong", "bye", answer="You sent something else."))
    assert in_this_process("eval", "agent.py", "cases.evalset.json").returncode == 1


def answer(eval_id: str) -> str:
    document = json.loads(Path("cases.evalset.json").read_text())
    [found] = [one for one in document["eval_cases"] if one["eval_id"] == eval_id]
    text: str = found["conversation"][0]["final_response"]["parts"][0]["text"]
    return text


@pytest.mark.slow
def test_the_difference_is_shown_and_written_when_one_agrees() -> None:
    done = in_this_process("bless", "--yes")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["--- cases.evalset.json", "+++ cases.evalset.json"]
    assert any(line.startswith("-") and "You sent something else." in line for line in lines)
    assert any(line.startswith("+") and "You sent bye." in line for line in lines)
    assert lines[-1] == "cases.evalset.json: 1 case blessed: wrong"
    assert answer("wrong") == "You sent bye."
    assert in_this_process("eval", "agent.py", "cases.evalset.json").returncode == 0


def test_a_dry_run_only_shows() -> None:
    before = Path("cases.evalset.json").read_bytes()
    done = in_this_process("bless", "latest", "wrong", "--dry-run")
    assert done.returncode == 0
    assert "+++ cases.evalset.json" in done.stdout
    assert Path("cases.evalset.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two.evalset.yaml", "two.evalset.json"])
def test_the_second_case_with_an_id_is_blessed_by_itself(name: str) -> None:
    text = "cases:\n- case: a\n  ask: hi\n  expect: You sent hi.\n- case: b\n  ask: no call\n  expect: Hm.\n"
    Path("two.evalset.yaml").write_text(text)
    if name.endswith(".json"):
        in_this_process("convert", "two.evalset.yaml", name)
    before = Path(name).read_text().replace('"b"', '"a"').replace("case: b", "case: a")
    Path(name).write_text(before)
    Path("text.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    run = in_this_process("eval", "agent.py", name, "--config", "text.json", "--allow-duplicate-ids")
    assert "FAILED  two/a#2" in run.stdout, run.stderr
    done = in_this_process("bless", "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{name}: 1 case blessed: a#2"), done.stderr
    assert Path(name).read_text() == before.replace("Hm.", "You sent no call.")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two.evalset.yaml", "two.evalset.json"])
def test_other_cases_of_the_file_need_not_be_valid(name: str) -> None:
    Path("two.evalset.yaml").write_text(
        "cases:\n- case: a\n  ask: bye\n  expect: Bye.\n- case: b\n  ask: hm\n  expect: Hm.\n"
    )
    if name.endswith(".json"):
        in_this_process("convert", "two.evalset.yaml", name)
    assert in_this_process("eval", "agent.py", name).returncode == 1
    whole = in_this_process("bless", "latest", "b", "--dry-run")
    key = "user_content" if name.endswith(".json") else "ask"
    Path(name).write_text(broken := Path(name).read_text().replace(key, f"x{key}", 1))
    done = in_this_process("bless", "latest", "b", "--dry-run")
    assert (done.returncode, done.stdout) == (0, whole.stdout), done.stderr
    written = in_this_process("bless", "latest", "b", "--yes")
    assert written.stdout.splitlines()[-1] == f"{name}: 1 case blessed: b"
    assert "audit: " in written.stderr
    old, new = broken.partition('"b"' if name.endswith(".json") else "case: b"), Path(name).read_text()
    assert new.startswith(old[0])
    assert ("You sent hm." in new, "Hm." in new) == (True, False)


@pytest.mark.parametrize("name", ["two.evalset.yaml", "two.evalset.json"])
def test_a_file_that_cannot_be_read_is_refused(name: str) -> None:
    Path("two.evalset.yaml").write_text(
        "cases:\n- case: a\n  ask: bye\n  expect: Bye.\n- case: b\n  ask: hm\n  expect: Hm.\n- case: c\n  ask: x\n"
    )
    if name.endswith(".json"):
        in_this_process("convert", "two.evalset.yaml", name)
    in_this_process("eval", "agent.py", name)
    Path(name).write_text(
        broken := re.sub(r"(ask|text)(\W+)bye\W", r'\1\2"bye', Path(name).read_text(), count=1)
    )
    refused = in_this_process("bless", "latest", "b", "--yes")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{name}:" in refused.stderr
    assert Path(name).read_text() == broken


def test_nothing_is_written_without_a_confirmation() -> None:
    before = Path("cases.evalset.json").read_bytes()
    done = in_this_process("bless")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert Path("cases.evalset.json").read_bytes() == before


def test_a_case_that_expects_already_what_was_done() -> None:
    done = in_this_process("bless", "latest", "right", "--yes")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to change: 1 case expects already what was done" in done.stderr


def test_a_run_in_which_nothing_failed() -> None:
    in_this_process("eval", "replay", "cases.evalset.json")
    done = in_this_process("bless", "--yes")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to bless: no case failed" in done.stderr


def test_a_run_whose_only_case_is_in_error_is_refused_with_the_reason() -> None:
    write_set(Path("cases.evalset.json"), case("broken", "crash"))
    before = Path("cases.evalset.json").read_bytes()
    assert in_this_process("eval", "agent.py", "cases.evalset.json").returncode == 3
    done = in_this_process("bless", "latest", "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cases/broken is in error" in done.stderr
    assert "the agent broke" in done.stderr
    assert Path("cases.evalset.json").read_bytes() == before


REFUSED = {
    "an unknown case": (["bless", "latest", "wrog"], "has no case 'wrog'. Did you mean 'wrong'?"),
    "an unknown run": (["bless", "zzzz"], "zzzz"),
    "an unknown trial": (["bless", "latest", "wrong", "--trial", "7"], "has no trial 7 that came to its end"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_impossible_bless_is_reported(words: list[str], message: str) -> None:
    done = in_this_process(*words)
    assert done.returncode == 2
    assert message in done.stderr


def test_text_of_an_agent_never_reaches_the_terminal_raw() -> None:
    Path("agent.py").write_text("def root_agent(text):\n    return '\\x1b[31m red \\x1b]0;t\\x07'\n")
    in_this_process("eval", "agent.py", "cases.evalset.json:wrong")
    done = in_this_process("bless", "--dry-run")
    assert "\x1b" not in done.stdout


def test_possible_changes_are_written_and_the_rest_sets_the_exit_code() -> None:
    Path("cases.evalset.json").write_text(
        Path("cases.evalset.json").read_text().replace("hello", "hello there", 1)
    )
    done = in_this_process("bless", "latest", "right", "wrong", "--yes")
    assert done.returncode == 1
    assert "the case right was changed since it was run" in done.stderr
    assert done.stdout.splitlines()[-1] == "cases.evalset.json: 1 case blessed: wrong"
    assert answer("wrong") == "You sent bye."


@pytest.mark.slow
def test_the_difference_has_the_lines_of_the_file() -> None:
    text = Path("cases.evalset.json").read_text().replace("something else.", "something\u2028other.")
    Path("cases.evalset.json").write_bytes(text.replace("\n", "\r\n").encode())
    in_this_process("eval", "agent.py", "cases.evalset.json:wrong")
    done = in_this_process("bless", "--dry-run")
    assert any(line.endswith(r'"You sent something\u2028other."') for line in done.stdout.splitlines()), (
        done.stdout
    )
    assert r"\r" not in done.stdout


@pytest.mark.slow
def test_lost_comment_is_reported_before_anything_is_written() -> None:
    Path("s.evalset.yaml").write_text(
        "cases:\n  - case: a\n    ask: hi\n    tools:\n      # look first\n      - look()\n      - tell()\n    expect: x\n"
    )
    in_this_process("eval", "agent.py", "s.evalset.yaml")
    done = in_this_process("bless", "--yes")
    assert "warning: s.evalset.yaml:5: # look first: this comment is removed with its entry" in done.stderr


def _file_named_in_a_copy(eval_set: str, copy: Path) -> str:
    """Run a set, copy the project, delete the original, and return the file that a blessing in the copy names."""
    here = Path.cwd()
    assert in_this_process("eval", "agent.py", eval_set).returncode == 1
    shutil.copytree(here, copy, ignore=shutil.ignore_patterns("copy"))
    Path("cases.evalset.json").unlink()
    with working_in(copy):
        return in_this_process("bless", "--dry-run").stdout.partition("\n")[0]


@pytest.mark.slow
def test_a_set_that_was_named_by_its_absolute_path_is_found_in_a_copy(tmp_path: Path) -> None:
    copy = tmp_path.with_name("copy")
    assert _file_named_in_a_copy(str(Path("cases.evalset.json").absolute()), copy) == "--- cases.evalset.json"


@pytest.mark.slow
def test_a_copy_below_the_folder_of_the_run_is_a_project(tmp_path: Path) -> None:
    assert _file_named_in_a_copy("cases.evalset.json", tmp_path / "copy") == "--- cases.evalset.json"
