"""A small project to run `proctor eval` in: one agent file, one eval set, one config."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from proctor.cli.main import cli
from tests.cli.fork_command import fork_command

AGENT = """
import asyncio, os, sys, threading, time

def root_agent(message, state):
    if message == "crash":
        raise RuntimeError("the agent broke")
    if message == "print":
        print("on stdout, from the agent"); os.system("echo on stdout, from its tool")
        print("on stderr, from the agent", file=sys.stderr)
    if message == "close":
        os.close(1)
    if message == "chdir":
        os.chdir("/")
    if message.startswith("sleep"):
        time.sleep(float(message.split()[1]))
    if message == "leave a thread":
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
    calls = [{"name": "look", "args": {"at": message}}] if message != "no call" else []
    return {"tool_calls": calls, "text": f"You sent {message}.", "state_delta": {"last": message}}

async def stubborn(message):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass
"""


def case(eval_id: str, text: str, *, answer: str | None = None, **more: Any) -> dict[str, Any]:
    """A case of one turn that the agent passes, unless `text` asks for something else."""
    return {
        "eval_id": eval_id,
        "conversation": [
            {
                "invocation_id": f"{eval_id}-1",
                "user_content": {"role": "user", "parts": [{"text": text}]},
                "final_response": {"role": "model", "parts": [{"text": answer or f"You sent {text}."}]},
                "intermediate_data": {"tool_uses": [{"name": "look", "args": {"at": text}}]},
            }
        ],
        "session_input": {"app_name": "app", "user_id": "user", "state": {}},
        **more,
    }


def write_set(path: Path, *cases: dict[str, Any], eval_set_id: str = "") -> Path:
    """Write an eval set of `cases`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"eval_set_id": eval_set_id or path.name.partition(".")[0], "eval_cases": cases}, indent=1)
    )
    return path


def make_project(folder: Path, *cases: dict[str, Any], criteria: Any = None) -> Path:
    """Write the project into `folder`: agent.py, cases.evalset.json, test_config.json."""
    (folder / "agent.py").write_text(AGENT)
    write_set(folder / "cases.evalset.json", *(cases or [case("hello", "hello")]))
    wanted = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8} if criteria is None else criteria
    (folder / "test_config.json").write_text(json.dumps({"criteria": wanted}))
    return folder


def copy_of(make: Callable[[], object], folder: Path) -> Path:
    """Fill the empty working folder with what `make` writes into it. `make` runs once in a process; later calls copy its files."""
    original = folder.parent / f"made by {make.__module__}.{make.__qualname__}"
    if original.exists():
        shutil.copytree(original, folder, dirs_exist_ok=True)
    else:
        make()
        shutil.copytree(folder, original)
    return folder


def in_this_process(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    """Run the command line in this process, in the working folder: the same exit codes, ten times faster."""
    result = CliRunner().invoke(cli, list(arguments), input=stdin)
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


def hear(process: "subprocess.Popen[str]", words: str) -> str:
    """Return the stderr of a process up to some words and a little further; `communicate` gives the rest."""
    assert process.stderr is not None
    seen = b""
    while words.encode() not in seen:
        piece = os.read(process.stderr.fileno(), 65536)
        assert piece, f"it never printed {words!r}: {seen!r}"
        seen += piece
    return seen.decode(errors="replace")


def proctor(
    *arguments: str, cwd: Path, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line in `cwd`, in a process without a terminal."""
    return fork_command(*arguments, cwd=cwd, environment={**os.environ, **environment}, timeout=timeout)
