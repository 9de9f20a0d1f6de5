"""The option that names a store at the end of a proposed command."""

from pathlib import Path

import pytest

from proctor.runs.storage.open import store_option
from proctor.web.server.runs.run_command import display_command


@pytest.mark.parametrize(
    ("url", "option"),
    [
        pytest.param("runs.db", "runs.db", id="a file"),
        pytest.param(
            "postgresql://ada@db.example.com/evals", "postgresql://ada@db.example.com/evals", id="a user"
        ),
        pytest.param("postgresql://ada:p4ss@db/evals", "postgresql://ada@db/evals", id="a password"),
        pytest.param(
            "postgres://ada:p%404ss@h1:5433,h2/evals", "postgres://ada@h1:5433,h2/evals", id="escaped"
        ),
        pytest.param(
            "postgresql://db/x?user=ada&password=p4ss", "'postgresql://db/x?user=ada'", id="a parameter"
        ),
        pytest.param(
            "postgresql://db/x?password=p4ss&user=ada", "'postgresql://db/x?user=ada'", id="the first one"
        ),
        pytest.param("postgresql://db/x?sslpassword=p4ss", "postgresql://db/x", id="of a certificate"),
    ],
)
def test_option_can_be_copied_and_has_no_password(url: str, option: str) -> None:
    assert store_option(url) == f" --store={option}"


def test_stores_that_need_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [store_option(one) for one in (None, "memory:", ".proctor/store.sqlite3")] == ["", "", ""]


def test_the_command_that_the_page_shows_can_be_copied_too() -> None:
    words = ["eval", "http://me:p4ss@host/ask", "--store=postgresql://ada:p4ss@db/evals"]
    assert display_command(words) == "proctor eval 'http://***@host/ask' --store=postgresql://ada@db/evals"
