"""The servers of docs/reference/agent-protocol.md, started as documented, by Python and by node."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agents.remote.misbehaving import unused_port
from tests.docs.examples.pages import ROOT, blocks

pytest.importorskip("httpx", reason="the extra `http` is not installed")
PAGE = "docs/reference/agent-protocol.md"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    for block in blocks((ROOT / PAGE).read_text(encoding="utf-8"), PAGE):
        if name := block.option("file"):
            (tmp_path / name).write_text(block.text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "server"), [(sys.executable, "shop_server.py"), ("node", "shop_server.mjs")]
)
def test_a_server_of_the_page_is_evaluated(page: Path, runtime: str, server: str) -> None:
    if shutil.which(runtime) is None:
        pytest.skip(f"{runtime} is not installed")
    assert len((page / server).read_text().splitlines()) < 30
    port = unused_port()
    with subprocess.Popen([runtime, server, str(port)], cwd=page, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "proctor",
                    "eval",
                    f"http+sse:http://127.0.0.1:{port}",
                    "shop.evalset.json",
                ],
                cwd=page,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            process.terminate()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED  shop/second_apple" in done.stdout


def _wait_for(port: int) -> None:
    for _ in range(1200):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server did not start")
