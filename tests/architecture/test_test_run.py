"""What tests/conftest.py promises to every test: no outside network, a clean environment, no silent skip."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = ("192.0.2.1", 80)  # an address reserved for documentation: nothing listens there


def test_the_outside_network_is_denied() -> None:
    with socket.socket() as one, pytest.raises(RuntimeError, match="tests may only reach this machine"):
        one.connect(OUTSIDE)
    with pytest.raises(RuntimeError, match=r"asked for 'example\.com'"):
        socket.create_connection(("example.com", 443))
    with socket.socket(type=socket.SOCK_DGRAM) as one, pytest.raises(RuntimeError, match="tests may only"):
        one.sendto(b"", OUTSIDE)


def test_the_outside_network_is_denied_to_asyncio() -> None:
    with pytest.raises(RuntimeError, match="tests may only reach this machine"):
        asyncio.run(asyncio.open_connection(*OUTSIDE))


def test_this_machine_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()


def test_this_machine_is_reached_by_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("here")
        server.listen()
        client.connect("here")


SAMPLE = """
import os
import sys
import pytest

def test_environment(tmp_path):
    assert not {"SAMPLE_API_KEY", "NO_COLOR", "GOOGLE_CLOUD_PROJECT", "PROCTOR_STORE"} & set(os.environ)
    os.environ["LEFT_BEHIND"] = "1"
    sys.path.insert(0, str(tmp_path))
    (tmp_path / "left_over.py").touch()
    (tmp_path / "folder").mkdir()
    import left_over, folder

def test_environment_is_restored():
    assert "LEFT_BEHIND" not in os.environ
    assert not {"left_over", "folder"} & set(sys.modules)
    with pytest.raises(ImportError):
        import left_over

@pytest.mark.skipif(True, reason="left out by its mark")
def test_by_mark():
    pass

def test_by_call():
    pytest.skip("left out by a call")

@pytest.mark.xfail(strict=True, reason="known")
def test_known():
    raise ValueError
"""


@pytest.fixture
def sample(tmp_path: Path, root: Path) -> Path:
    shutil.copy(root / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_sample.py").write_text(SAMPLE, encoding="utf-8")
    (tmp_path / "test_module.py").write_text(
        "import pytest\npytest.importorskip('no_such_package')\n", encoding="utf-8"
    )
    return tmp_path


TABLES = """
import pytest

@pytest.mark.parametrize("row", range(10))
@pytest.mark.nightly(check=3)
def test_table(row):
    pass

@pytest.mark.nightly
def test_long():
    pass

@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_counts(count):
    pass
"""


def _pytest(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "--continue-on-collection-errors",
            *arguments,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONSAFEPATH": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.slow  # starts pytest
def test_skips_are_allowed_where_not_everything_is_required(sample: Path) -> None:
    code, printed = _pytest(
        sample,
        ".",
        SAMPLE_API_KEY="x",
        NO_COLOR="1",
        GOOGLE_CLOUD_PROJECT="x",
        PROCTOR_STORE="x",
        PROCTOR_REQUIRE_ALL="0",
    )
    assert "2 passed, 3 skipped, 1 xfailed" in printed
    assert code == 0


@pytest.mark.slow  # starts pytest
def test_every_kind_of_skip_fails_where_everything_is_required(sample: Path) -> None:
    code, printed = _pytest(sample, ".", PROCTOR_REQUIRE_ALL="1")
    assert "1 failed, 2 passed, 1 xfailed, 2 errors" in printed
    for reason in ("left out by its mark", "left out by a call", "could not import 'no_such_package'"):
        assert reason in printed
    assert code == 1


@pytest.mark.slow  # starts pytest twice
@pytest.mark.parametrize(
    ("wanted", "run"),
    [
        pytest.param(
            "not benchmark", [*(f"test_table[{row}]" for row in (0, 3, 6)), "test_counts[1]"], id="check"
        ),
        pytest.param(
            "nightly",
            [*(f"test_table[{row}]" for row in range(10)), "test_long", "test_counts[2]"],
            id="nightly",
        ),
    ],
)
def test_the_check_runs_some_rows_of_a_long_table_and_the_night_all(
    tmp_path: Path, root: Path, wanted: str, run: list[str]
) -> None:
    shutil.copy(root / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_tables.py").write_text(TABLES, encoding="utf-8")
    code, printed = _pytest(
        tmp_path, "-m", wanted, "--collect-only", "test_tables.py", PYTHONWARNINGS="ignore"
    )
    assert code == 0
    assert re.findall(r"::(\S+)", printed) == run
    assert ("9 tests of these files take long and were left out" in printed) == (wanted != "nightly")
