"""The toy behind google-adk's own REST server, in a separate process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
AGENT = "from tests.agents.frameworks.toys.google_adk import root_agent\n"


@contextmanager
def serve() -> Iterator[str]:
    """Serve the toy as the app `toy`, and give its AGENT string."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        write_app(Path(folder), "toy", AGENT)
        with serving(Path(folder)) as url:
            yield f"adk+http:{url}/toy"


def write_app(folder: Path, name: str, code: str) -> None:
    """Write an app as google-adk's server finds it."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("from . import agent\n", encoding="utf-8")
    (folder / name / "agent.py").write_text(code, encoding="utf-8")


@contextmanager
def serving(what: Path | str, program: str = "adk_server.py", *arguments: str) -> Iterator[str]:
    """Run a server of a folder (or another source) in a separate process, and give its URL; it ends with the block."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(HERE.parent / "servers" / program),
        str(what),
        *arguments,
    ]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), f"the server did not start: {port!r}"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
