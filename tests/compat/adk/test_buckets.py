"""Eval sets and results in buckets, over the providers' own protocols: servers on loopback replace the providers."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.eval_case import EvalCase
from proctor.compat.adk.evaluation.eval_set_results_manager import EvalSetResultsManager
from proctor.compat.adk.evaluation.eval_sets_manager import EvalSetsManager
from proctor.compat.adk.evaluation.gcs_eval_set_results_manager import GcsEvalSetResultsManager
from proctor.compat.adk.evaluation.gcs_eval_sets_manager import GcsEvalSetsManager
from proctor.compat.adk.evaluation.s3_eval_set_results_manager import S3EvalSetResultsManager
from proctor.compat.adk.evaluation.s3_eval_sets_manager import S3EvalSetsManager

BUCKET = "evals-of-ours"
APP = "scripted_app"

NEEDED = {"gcs": ("gcsfs", "gcp_storage_emulator"), "s3": ("s3fs", "moto")}


@dataclass(frozen=True)
class Provider:
    """A provider's protocol on this machine."""

    scheme: str
    sets: Callable[..., EvalSetsManager]
    results: Callable[..., EvalSetResultsManager]
    options: dict[str, Any]
    text: Callable[[str], str]
    """The text of an object, by its path in the bucket, read past the managers."""
    paths: Callable[[], list[str]]


@pytest.fixture(scope="module", params=["gcs", "s3"])
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """One server for all tests of a provider; each test has a separate app."""
    missing = [name for name in NEEDED[request.param] if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with pytest.MonkeyPatch.context() as patch:
        yield from (_gcs if request.param == "gcs" else _s3)(patch)


def _gcs(patch: pytest.MonkeyPatch) -> Iterator[Provider]:
    from gcp_storage_emulator.server import create_server

    patch.setenv(
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"
    )  # it would ask another service about the bucket
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    port = server._api._httpd.socket.getsockname()[1]
    options = {"endpoint_url": f"http://127.0.0.1:{port}", "token": "anon", "project": "ours"}
    try:
        yield _provider("gs", GcsEvalSetsManager, GcsEvalSetResultsManager, options)
    finally:
        server.stop()


def _s3(patch: pytest.MonkeyPatch) -> Iterator[Provider]:
    import fsspec
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    fsspec.filesystem("s3", **options).mkdir(BUCKET)
    try:
        yield _provider("s3", S3EvalSetsManager, S3EvalSetResultsManager, options)
    finally:
        server.stop()


def _provider(scheme: str, sets: Any, results: Any, options: dict[str, Any]) -> Provider:
    import fsspec

    files = fsspec.filesystem(scheme, **options, use_listings_cache=False)

    def text(path: str) -> str:
        return str(files.cat_file(f"{BUCKET}/{path}").decode())

    def paths() -> list[str]:
        files.invalidate_cache()
        return sorted(path.removeprefix(f"{BUCKET}/") for path in files.find(BUCKET))

    return Provider(scheme, sets, results, options, text, paths)


@pytest.fixture
def app(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W", "_", request.node.name)


def case(eval_id: str, answer: str = "hello") -> EvalCase:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": answer}]}}
    return EvalCase.model_validate({"eval_id": eval_id, "conversation": [turn]})


@pytest.mark.slow
def test_sets_are_stored_at_google_adks_path_in_its_form(provider: Provider, app: str) -> None:
    manager = provider.sets(bucket_name=BUCKET, **provider.options)
    made = manager.create_eval_set(app, "s")
    assert made.name == "s"
    assert provider.text(f"{app}/evals/eval_sets/s.evalset.json") == (
        f'{{\n  "eval_set_id": "s",\n  "name": "s",\n  "eval_cases": [],\n  "creation_timestamp": {made.creation_timestamp}\n}}'
    )


@pytest.mark.slow
def test_cases_are_added_found_replaced_and_removed(provider: Provider, app: str) -> None:
    manager = provider.sets(BUCKET, **provider.options)
    manager.create_eval_set(app, "s")
    manager.create_eval_set(app, "a")
    for name in ("a", "b", "ü"):
        manager.add_eval_case(app, "s", case(name))
    manager.update_eval_case(app, "s", case("b", "changed"))
    manager.delete_eval_case(app, "s", "a")
    again = provider.sets(BUCKET, **provider.options)
    found = again.get_eval_set(app, "s")
    assert found is not None
    assert [one.eval_id for one in found.eval_cases] == ["b", "ü"]
    assert again.get_eval_case(app, "s", "b") == case("b", "changed")
    assert again.list_eval_sets(app) == ["a", "s"]
    assert again.list_eval_sets("nobody") == []
    assert again.get_eval_set(app, "none") is None


def test_a_set_is_created_once(provider: Provider, app: str) -> None:
    """Of several that do so at once, too, where the server keeps conditions: the emulator of GCS does not know them."""
    outcomes: list[str] = []

    def create() -> None:
        try:
            provider.sets(BUCKET, **provider.options).create_eval_set(app, "s")
            outcomes.append("made")
        except ValueError as error:
            outcomes.append(str(error).rpartition(" ")[2])

    threads = [threading.Thread(target=create) for _ in range(4 if provider.scheme == "s3" else 1)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    create()
    assert sorted(outcomes) == sorted(["made"] + ["already"] * len(threads))


@pytest.mark.slow
def test_of_several_who_add_cases_at_once_none_is_lost(provider: Provider, app: str) -> None:
    """Each reads the set, adds to it and writes it: the store refuses what was read before another wrote."""
    provider.sets(BUCKET, **provider.options).create_eval_set(app, "s")
    problems: list[str] = []

    def add(name: str) -> None:
        try:
            manager = provider.sets(BUCKET, **provider.options)
            for number in range(3):
                manager.add_eval_case(app, "s", case(f"{name}{number}"))
        except ValueError as error:
            problems.append(str(error))

    threads = [
        threading.Thread(target=add, args=(name,)) for name in ("abcd" if provider.scheme == "s3" else "a")
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not problems
    found = provider.sets(BUCKET, **provider.options).get_eval_set(app, "s")
    assert found is not None
    assert len(found.eval_cases) == 3 * len(threads)


def test_what_was_read_before_another_wrote_is_not_written(
    provider: Provider, app: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The condition is what the store is asked for: here its answer is given, for the emulator of GCS knows none."""
    manager, other = (provider.sets(BUCKET, **provider.options) for _ in range(2))
    manager.create_eval_set(app, "s")
    files, asked = manager._documents._files, []  # type: ignore[attr-defined]  # what speaks to the provider
    name = "pipe_file" if provider.scheme == "s3" else "call"
    real = getattr(files, name)

    def late(*args: Any, **options: Any) -> Any:
        asked.append(options.get("IfMatch") or options.get("ifGenerationMatch"))
        if len(asked) == 1:
            other.add_eval_case(app, "s", case("theirs"))
            if provider.scheme == "gs":
                raise FileExistsError("412")  # what gcsfs makes of it
        return real(*args, **options)

    monkeypatch.setattr(files, name, late)
    manager.add_eval_case(app, "s", case("mine"))
    monkeypatch.undo()
    assert [one.eval_id for one in manager.get_eval_set(app, "s").eval_cases] == ["theirs", "mine"]  # type: ignore[union-attr]  # it is there
    assert len(set(filter(None, asked))) >= 2


def agent(text: str) -> str:
    return "hello"


def test_results_in_a_folder_of_the_bucket(provider: Provider, app: str) -> None:
    manager = provider.results(bucket_name=BUCKET, eval_storage_dir="runs/", **provider.options)
    eval_set = {"eval_set_id": "s", "eval_cases": [case("a").model_dump(mode="json")]}
    AgentEvaluator.evaluate_eval_set(
        agent, eval_set, {"response_match_score": 0.5}, app_name=app, eval_set_results_manager=manager
    )
    (name,) = manager.list_eval_set_results(app)
    assert f"runs/{app}/evals/eval_history/{name}.evalset_result.json" in provider.paths()
    found = manager.get_eval_set_result(app, name)
    assert [one.final_eval_status.name for one in found.eval_case_results] == ["PASSED", "PASSED"]
    with pytest.raises(NotFoundError):
        manager.get_eval_set_result(app, "none")
    assert manager.list_eval_set_results("nobody") == []


def test_the_documented_one_argument(provider: Provider) -> None:
    manager = provider.results(bucket_name=BUCKET, **provider.options)
    result = AgentEvaluator.evaluate_eval_set(
        agent, {"eval_set_id": "s", "eval_cases": [case("a").model_dump()]}, {"response_match_score": 0.5}
    )
    (label,) = manager.save_eval_set_result(result).labels
    assert label.startswith(f"{provider.scheme}://{BUCKET}/agent/evals/eval_history/agent_s_")


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "", ".", "C:x"])
def test_name_with_path_separators_reaches_no_other_object(provider: Provider, name: str) -> None:
    sets, results = (
        provider.sets(BUCKET, **provider.options),
        provider.results(BUCKET, **provider.options),
    )
    for call in (
        lambda: sets.get_eval_set(name, "s"),
        lambda: sets.get_eval_set(APP, name),
        lambda: results.get_eval_set_result(APP, name),
        lambda: results.list_eval_set_results(name),
    ):
        with pytest.raises(ValueError, match="cannot be part of a path"):
            call()


def test_a_bucket_that_is_not_there_is_a_value_error(provider: Provider) -> None:
    for make in (provider.sets, provider.results):
        with pytest.raises(
            ValueError, match=f"{provider.scheme}://no-such-bucket: the bucket does not exist"
        ):
            make("no-such-bucket", **provider.options)


@pytest.mark.slow
def test_a_provider_that_cannot_be_reached_is_a_value_error(provider: Provider) -> None:
    if provider.scheme == "gs":
        return  # its package tries for a minute
    options = {**provider.options, "endpoint_url": "http://127.0.0.1:9"}
    once = {"retries": {"max_attempts": 1}, "connect_timeout": 1}
    with pytest.raises(ValueError, match=r"s3://evals-of-ours: cannot be opened: \w+"):
        provider.sets(BUCKET, **options, config_kwargs=once)
