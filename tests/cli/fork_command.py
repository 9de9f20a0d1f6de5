"""Run `proctor` in a process that is forked from one in which its modules are loaded.

It is a real process with real output and a real exit, without the half second of imports at each start. Tests of the start
itself, of signals, or of variables that Python reads at its start run `python -m proctor`.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SCRIPT = Path(sys.executable).with_name("proctor")
COMMANDS = ("cli", "runs", "engine", "metrics", "reports", "stores.sqlite", "files", "simulation")
"""The packages whose modules are loaded before the fork of a command."""
WEB = (*COMMANDS, "analysis", "authoring", "web")
"""And of a web server."""


def fork_command(
    *arguments: str,
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float = 120,
    join_outputs: bool = False,
) -> "subprocess.CompletedProcess[str]":
    """Run the installed script without a terminal. `join_outputs` writes stderr to stdout.

    Raises subprocess.TimeoutExpired if the command takes longer than `timeout` seconds.
    """
    with TemporaryDirectory() as folder:
        outputs = [f"{folder}/out", f"{folder}/out" if join_outputs else f"{folder}/err"]
        process = _ask(COMMANDS, [arguments, str(cwd), dict(environment), timeout, outputs])
        code = _ask(COMMANDS, process)
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(arguments, timeout)
        out, err = (Path(output).read_text(encoding="utf-8") for output in outputs)
    return subprocess.CompletedProcess(arguments, code, out, "" if join_outputs else err)


@contextmanager
def fork_web(*arguments: str, cwd: Path, log: Path) -> Iterator[int]:
    """Run `proctor web ARGUMENTS` until the block ends; its output goes to `log`. Yield the number of its process."""
    process = _ask(WEB, [["web", *arguments], str(cwd), dict(os.environ), 0, [str(log)] * 2])
    try:
        yield process
    finally:
        os.kill(process, signal.SIGTERM)
        _ask(WEB, process)


def _ask(packages: tuple[str, ...], request: Sequence[object] | int) -> int:
    """Start a process with the arguments of `_enter`, or await one by its number. Return its number, or its exit code."""
    server = _server(packages)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{json.dumps(request)}\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server(packages: tuple[str, ...]) -> "subprocess.Popen[str]":
    """Start the process that is forked, once for all tests of this process."""
    server = subprocess.Popen(
        [sys.executable, __file__, *packages], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # the end of its input ends it
    return server


def _serve() -> Sequence[str]:
    """Start or await a process for each request; print its number or its exit code. Return the arguments in the started one."""
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            print(os.waitstatus_to_exitcode(os.waitpid(request, 0)[1]), flush=True)
        elif child := os.fork():
            print(child, flush=True)
        else:
            return _enter(*request)
    sys.exit()


def _enter(
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    timeout: float,
    outputs: Sequence[str],
) -> Sequence[str]:
    """Become the process of a command: its folder, variables and output."""
    signal.setitimer(signal.ITIMER_REAL, timeout)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, output in enumerate(outputs, start=1):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    return arguments


def _preload(packages: Sequence[str]) -> None:
    for name in packages:
        package = importlib.import_module(f"proctor.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _preload(sys.argv[1:])
    sys.argv = [str(SCRIPT), *_serve()]
    sys.path[0] = str(SCRIPT.parent)
    from proctor.__main__ import main

    main()
