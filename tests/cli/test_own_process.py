"""The command line as a process: what goes to which stream, how it ends, what cannot hold it up."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor import load_run
from tests.cli.project import case, hear, make_project, proctor

pytestmark = pytest.mark.slow  # each test starts the command line

EVAL = ("eval", "agent.py", "cases.evalset.json")


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "proctor", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.02)


@pytest.mark.parametrize("words", [["--version"], ["eval", "missing.py"]], ids=" ".join)
def test_a_forked_command_ends_and_prints_as_a_started_one(tmp_path: Path, words: list[str]) -> None:
    process = start(*words, cwd=tmp_path)
    forked = proctor(*words, cwd=tmp_path)
    assert (forked.stdout, forked.stderr) == process.communicate()
    assert forked.returncode == process.returncode


# --- streams ---------------------------------------------------------------------------------------------------------


def test_what_the_agent_prints_is_kept_out_of_stdout(tmp_path: Path) -> None:
    make_project(tmp_path, case("noisy", "print"))
    done = proctor(*EVAL, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "passed"
    for words in ("on stdout, from the agent", "on stdout, from its tool", "on stderr, from the agent"):
        assert words in done.stderr


def test_abandoned_threads_print_nothing_after_the_report(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = proctor("eval", "agent.py:stubborn", EVAL[2], "--timeout", "0.3", cwd=tmp_path)
    assert done.returncode == 3
    assert "Task was destroyed" not in done.stderr
    assert "aclose" not in done.stderr


def test_an_agent_that_prints_while_it_is_imported(tmp_path: Path) -> None:
    make_project(tmp_path)
    file = tmp_path / "agent.py"
    file.write_text("print('importing')\n" + file.read_text())
    done = proctor(*EVAL, "--format=json", cwd=tmp_path)
    assert json.loads(done.stdout)["exit_code"] == done.returncode == 0
    assert "importing" in done.stderr


@pytest.mark.parametrize("deed", ["close", "chdir"])
def test_reports_survive_what_the_agent_does_to_the_process(tmp_path: Path, deed: str) -> None:
    make_project(tmp_path, case("odd", deed))
    done = proctor(*EVAL, "--report", "json=sub/out.json", "--make-parents", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VERDICT  passed" in done.stdout
    assert json.loads((tmp_path / "sub" / "out.json").read_text())["exit_code"] == 0


def test_format_is_all_that_stdout_has(tmp_path: Path) -> None:
    make_project(tmp_path)
    as_format, as_report = (
        proctor(*EVAL, *option, cwd=tmp_path) for option in (["--format", "text"], ["--report", "text=-"])
    )
    for done in (as_format, as_report):
        assert done.stdout.startswith("RUN  ")
        assert done.stdout.count("VERDICT  ") == 1


def test_two_reports_cannot_share_stdout(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = proctor(*EVAL, "--format", "json", "--report", "text=-", cwd=tmp_path)
    assert done.returncode == 2
    assert "two reports go to stdout" in done.stderr
    assert "configuration error, nothing was run" in done.stdout


def test_several_reports_in_addition_to_the_terminal(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = proctor(*EVAL, "--report", "json=a.json", "--report", "text=b.txt", cwd=tmp_path)
    assert done.returncode == 0
    assert "VERDICT" in done.stdout
    assert json.loads((tmp_path / "a.json").read_text())["runs"]
    assert "VERDICT" in (tmp_path / "b.txt").read_text()
    assert not list(tmp_path.glob(".*tmp"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = proctor(*EVAL, "--report", "json=/dev/full", cwd=tmp_path)
    assert done.returncode == 3
    assert "the report json could not be written to /dev/full" in done.stderr
    assert "VERDICT  passed" in done.stdout


def test_reader_that_stops_early(tmp_path: Path) -> None:
    make_project(tmp_path, *[case(f"case_{n}", f"word {n} " * 200) for n in range(300)])
    command = (
        f"{sys.executable} -m proctor {' '.join(EVAL)} --format json | head -c 10; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not [line for line in done.stderr.splitlines() if " trials (" not in line]  # it is under way
    assert done.stdout.endswith("0\n")  # the verdict, with or without a reader


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("option", [[], ["--format", "json"]], ids=["table", "json"])
def test_stdout_that_is_full_is_an_error(tmp_path: Path, option: list[str]) -> None:
    make_project(tmp_path)
    command = f"{sys.executable} -m proctor {' '.join([*EVAL, *option])} > /dev/full"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_change_no_verdict(tmp_path: Path, closed: str) -> None:
    make_project(tmp_path, case("wrong", "hello", answer="Something else entirely"))
    command = f"{sys.executable} -m proctor {' '.join(EVAL)} {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    make_project(tmp_path, case("snow", "☃"))
    done = proctor(*EVAL, cwd=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


# --- ends ------------------------------------------------------------------------------------------------------------


def test_a_thread_that_never_ends_does_not_hold_it_up(tmp_path: Path) -> None:
    make_project(tmp_path, case("leaves", "leave a thread"))
    done = proctor(*EVAL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_an_agent_does_at_exit_still_happens(tmp_path: Path) -> None:
    make_project(tmp_path, case("leaves", "leave a thread"))
    file = tmp_path / "agent.py"
    file.write_text(
        f"import atexit\natexit.register(lambda: open({str(tmp_path / 'ended')!r}, 'w'))\n" + file.read_text()
    )
    proctor(*EVAL, cwd=tmp_path)
    assert (tmp_path / "ended").exists()


SLEEPY = """
import asyncio, pathlib, time
async def root_agent(message):
    pathlib.Path("started").touch()
    if message == "soon":
        return "You sent soon."
    {sleep}
    return "late"
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_what_does_not_end_in_ten_seconds_is_left_behind(tmp_path: Path) -> None:
    soon = case("soon", "soon")
    soon["conversation"][0]["intermediate_data"] = None
    make_project(tmp_path, soon, case("later", "later"), case("last", "last"))
    (tmp_path / "agent.py").write_text(SLEEPY.format(sleep="await asyncio.sleep(600)"))
    process = start(*EVAL, "--concurrency", "1", "--report", "json=out.json", cwd=tmp_path)
    wait_for(tmp_path / "started")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "stopped: 1 of 3 cases is complete; the others were not run" in stderr
    assert "Traceback" not in stderr
    assert "cases/soon" in stdout
    report = json.loads((tmp_path / "out.json").read_text())
    assert [found["outcome"] for found in report["runs"][0]["cases"]] == ["passed", "not_run", "not_run"]
    assert (report["runs"][0]["interrupted"], report["exit_code"]) == (True, 130)


def test_before_the_first_call_it_stops_at_once(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "agent.py").write_text(
        "import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(600)\n"
    )
    process = start(*EVAL, cwd=tmp_path)
    wait_for(tmp_path / "started")
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (143, "", "interrupted: nothing was run\n")


def test_twice_stops_at_once_even_code_that_blocks(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "agent.py").write_text(SLEEPY.format(sleep="time.sleep(600)"))
    process = start(*EVAL, cwd=tmp_path)
    wait_for(tmp_path / "started")
    process.send_signal(signal.SIGINT)
    hear(process, "(Ctrl-C again stops at once)")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr


@pytest.mark.nightly
def test_an_agent_that_sends_ctrl_c_to_itself_is_stopped_like_any(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "agent.py").write_text(
        "import os, signal, time\ndef root_agent(message):\n    os.kill(os.getpid(), signal.SIGINT); time.sleep(600)\n"
    )
    assert proctor(*EVAL, cwd=tmp_path).returncode == 130


# --- terminals -------------------------------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, cwd: Path, **environment: str) -> tuple[int, str]:
    """Run on a pseudo-terminal and return the exit code and all that it saw."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", *arguments],
        cwd=cwd,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return process.wait(60), seen.decode()


def test_on_a_terminal_it_is_drawn(tmp_path: Path) -> None:
    make_project(tmp_path, case("wrong", "no call"), case("fine", "hello"))
    code, seen = on_a_terminal(*EVAL, cwd=tmp_path)
    assert code == 1
    assert "\x1b[" in seen
    assert "wrong" in seen
    assert "VERDICT" not in seen


def test_output_of_an_agent_is_printed_above_the_bar(tmp_path: Path) -> None:
    make_project(tmp_path, case("noisy", "print"))
    code, seen = on_a_terminal(*EVAL, cwd=tmp_path)
    assert code == 0
    for line in ("on stdout, from the agent", "on stderr, from the agent"):
        assert f"\r\x1b[2K{line}\r\n" in seen


def test_terminal_shows_the_next_command(tmp_path: Path) -> None:
    make_project(tmp_path, case("wrong", "no call"), case("fine", "hello"))
    _, seen = on_a_terminal(*EVAL, cwd=tmp_path)
    run_id = load_run(store=tmp_path / ".proctor" / "store.sqlite3").run_id
    assert f"run {run_id} · proctor show {run_id} wrong" in seen
    assert "--failed" not in seen


def test_of_a_run_that_is_not_kept_the_report_leads_on(tmp_path: Path) -> None:
    make_project(tmp_path, case("wrong", "no call"), case("fine", "hello"))
    arguments = [*EVAL, "--store", "memory:", "--report", "json=out.json"]
    told = f"--failed {tmp_path / 'out.json'} runs again only what did not pass"
    assert told in on_a_terminal(*arguments, cwd=tmp_path)[1]
    again = on_a_terminal(*arguments, "--failed", "out.json", cwd=tmp_path)[1]
    assert "wrong" in again
    assert "fine" not in again


@pytest.mark.parametrize("how", ["--no-color", "--no-color first", "NO_COLOR"])
def test_no_escape_sequence_without_colour(tmp_path: Path, how: str) -> None:
    make_project(tmp_path, case("wrong", "no call"), case("fine", "hello"))
    before = ["--no-color"] if how == "--no-color first" else []
    after = ["--no-color"] if how == "--no-color" else []
    environment = {"NO_COLOR": "1"} if how == "NO_COLOR" else {}
    code, seen = on_a_terminal(*before, *EVAL, *after, cwd=tmp_path, **environment)
    assert code == 1
    assert "wrong" in seen
    assert "\x1b" not in seen


def test_control_sequences_of_others_never_reach_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    make_project(tmp_path, case(f"id{evil}", f"hello{evil}", answer=f"other{evil}"))
    code, seen = on_a_terminal(*EVAL, "--no-color", cwd=tmp_path)
    assert code == 1
    assert "owned" in seen
    assert "\x1b" not in seen
    assert "\x07" not in seen


# --- a store that breaks under a run -----------------------------------------------------------------------------------

_CUT = "for name in ('s.db', 's.db-wal'): open(name, 'r+b').truncate(0)"
_SPOILED = "__import__('sqlite3').connect('s.db').executescript('UPDATE planned SET crc = crc + 1')"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a file in use from being cut")
@pytest.mark.parametrize("deed", [_CUT, _SPOILED], ids=["cut to nothing", "a row that is damaged"])
def test_store_that_breaks_during_a_run_is_not_a_configuration_error(tmp_path: Path, deed: str) -> None:
    """Exit code 2 would mean that nothing was run."""
    make_project(tmp_path, *(case(name, name) for name in ("one", "two", "three")))
    breaks = f"def root_agent(text):\n    if text == 'two':\n        {deed}\n    return 'You sent.'\n"
    (tmp_path / "agent.py").write_text(breaks)
    done = proctor(*EVAL, "--store", "s.db", "--concurrency", "1", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    *progress, error = done.stderr.splitlines()  # a slow machine has lines of progress
    assert error.startswith("error: s.db: the store is damaged")
    assert all("trials (" in line for line in progress), progress
    assert "passed" not in done.stdout
