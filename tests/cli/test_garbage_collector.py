"""The garbage collector looks again once a command has loaded what it needs, and only at what comes from then on."""

import subprocess
import sys
from pathlib import Path

import pytest

AGENT = '''
import gc
assert gc.isenabled()
assert gc.get_freeze_count() > 10_000

class Log:
    """Holds itself, so that only the collector can free it."""

    def __init__(self):
        self.myself = self
        self.file = open("log.txt", "w")

log = Log()
log.file.write("what the agent never flushed")

async def agent(text):  # a plain one runs in a thread, and where there are threads the process ends at once
    return text
'''
ENDS = """
import atexit, gc, sys
atexit.register(lambda: print("collects" if gc.isenabled() else "collects nothing", file=sys.stderr))
from proctor.__main__ import main
sys.argv = ["proctor", *sys.argv[1:]]
main()
"""
SET = '{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "a"}]}, "final_response": {"parts": [{"text": "a"}]}}]}]}'
CRITERIA = '{"criteria": {"response_match_score": 0.5}}'


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "agent.py").write_text(AGENT)
    (folder / "s.evalset.json").write_text(SET)
    (folder / "test_config.json").write_text(CRITERIA)
    return subprocess.run(
        [sys.executable, "-c", ENDS, *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "agent.py:agent", "s.evalset.json"),
        ("eval", "agent.py:agent", "s.evalset.json", "--estimate"),
        ("runs",),
        ("metrics",),
        ("check", "s.evalset.json"),
    ],
    ids=" ".join,
)
def test_it_looks_while_a_command_is_at_work(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *words)
    assert done.stderr.splitlines()[-1] == "collects", done.stderr


@pytest.mark.slow
def test_what_an_agent_left_open_is_written_in_the_end(tmp_path: Path) -> None:
    assert run(tmp_path, "eval", "agent.py:agent", "s.evalset.json").returncode == 0
    assert (tmp_path / "log.txt").read_text() == "what the agent never flushed"
