"""Modules of the inner sessions are loaded before: pytester drops again all modules that a session has imported."""

import gc
import os
from importlib import import_module

import pytest

import proctor
from tests.pytest_plugin.sample_project import CONFIG, Sandbox

_LOADED_LATE = (
    "batches", "collection", "failures", "fixtures", "inspected_results", "project", "summary", "uninspected_results",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def _everything_is_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in _LOADED_LATE:
        import_module(f"proctor.pytest_plugin.{name}")
    for name in (
        "reports.terminal.run",
        "stores.sqlite.file",
        "agents.load",
        "agents.function",
    ):
        import_module(f"proctor.{name}")
    path = tmp_path_factory.mktemp("loaded") / "x.evalset.yaml"
    path.write_text("ask: hello\nexpect: hello\n")
    proctor.evaluate_sync(lambda text: text, path, config=CONFIG)
    gc.collect()
    gc.freeze()  # each inner session ends with five collections, which visit what the tests before have left


@pytest.fixture
def sandbox(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # the sessions are the same wherever they are run
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
        monkeypatch.delenv(name)  # an inner session is not a worker of the outer one
    return Sandbox(pytester)
