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
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SCRIPT = Path(sys.executable).with_name("proctor")
PRELOADED = ("cli", "runs", "engine", "metrics", "reports", "stores.sqlite", "files", "simulation")
"""The packages whose modules are loaded before the fork."""


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
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        json.dump([arguments, str(cwd), dict(environment), timeout, outputs], server.stdin)
        server.stdin.write("\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(arguments, timeout)
        out, err = (Path(output).read_text(encoding="utf-8") for output in outputs)
    return subprocess.CompletedProcess(arguments, code, out, "" if join_outputs else err)


@cache
def _server() -> "subprocess.Popen[str]":
    """Start the process that is forked, once for all tests of this process."""
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # the end of its input ends it
    return server


def _serve() -> Sequence[str]:
    """Fork for each request and print the exit code; return the arguments in the forked process."""
    for request in sys.stdin:
        child = os.fork()
        if not child:
            return _enter(*json.loads(request))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
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


def _preload() -> None:
    for name in PRELOADED:
        package = importlib.import_module(f"proctor.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _preload()
    sys.argv = [str(SCRIPT), *_serve()]
    sys.path[0] = str(SCRIPT.parent)
    from proctor.__main__ import main

    main()
