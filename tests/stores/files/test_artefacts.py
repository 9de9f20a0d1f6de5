"""Large images, sounds and files are objects in a folder or a bucket: never lost, never left over, and never half a result."""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SetupError, StoreError
from proctor.schema.results.manifest import RunSummary
from proctor.stores.artefacts import LARGEST_INLINE, Artefacts, Deletion, StoreId, _objects, check_location
from proctor.stores.base import TrialRecord
from proctor.stores.open import open_store_url
from proctor.stores.sql import database
from proctor.stores.sql.media import collect_artefacts, upload, write_media
from proctor.stores.sql.store import SqlStore
from tests.cli.project import in_this_process
from tests.stores.postgres.server import PostgresServer
from tests.stores.sample_runs import Heard, begun, case_of, trials_of

PICTURE = b"\x89PNG" + bytes(range(256)) * (LARGEST_INLINE // 256)
SOUND = b"RIFF" + b"sound" * LARGEST_INLINE
SMALL = b"GIF8" * 1000


def with_media(*pieces: bytes) -> bytes:
    parts = [{"inline_data": {"data": base64.urlsafe_b64encode(piece).decode()}} for piece in pieces]
    return json.dumps({"parts": parts}, separators=(",", ":")).encode()


def name_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_url()


@contextmanager
def opened(url: str, artefacts: str | Path = "", *, read_only: bool = False) -> Iterator[SqlStore]:
    with closing(open_store_url(url, artefacts=str(artefacts), read_only=read_only)) as store:
        assert isinstance(store, SqlStore)
        yield store


def write(store: SqlStore, run_id: str, *pieces: bytes, cases: int = 1) -> None:
    heard = Heard()
    writer = begun(store, run_id, cases=cases, heard=heard)
    for position in range(cases):
        shown = with_media(*pieces)
        writer.put([TrialRecord(position, 0, 0, shown, failed=False, case=with_media(*pieces[:1]))], position)
    writer.finish(RunSummary(), complete=False)
    assert heard.failed == []


def evidence(store: SqlStore, run_id: str, position: int = 0) -> bytes:
    return trials_of(store, run_id, position, 1)[0].evidence


def objects(folder: Path) -> dict[str, bytes]:
    """Return the objects below a folder by their path in the folder of their store."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "stores"]
    return {path.relative_to(folder).as_posix().partition("/")[2]: path.read_bytes() for path in files}


@pytest.mark.slow
def test_only_large_media_are_objects_each_once_for_all_trials_and_runs(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path / "big") as store:
        write(store, "a", PICTURE, SMALL, SOUND, PICTURE, cases=3)
        write(store, "b", PICTURE)
        expected = {f"{name_of(body)[:2]}/{name_of(body)}": body for body in (PICTURE, SOUND)}
        assert objects(tmp_path / "big") == expected
        assert store._database.rows("SELECT hash FROM media") == [(name_of(SMALL),)]
    with opened(url, read_only=True) as store:  # readers need no setting
        assert evidence(store, "a", 2) == with_media(PICTURE, SMALL, SOUND, PICTURE)
        assert case_of(store, "b", 0) == with_media(PICTURE)


@pytest.mark.slow
def test_deletion_takes_what_no_other_run_uses(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path / "big") as store:
        write(store, "a", PICTURE, SOUND)
        write(store, "b", PICTURE)
        store.delete(["a"])
        assert [*objects(tmp_path / "big").values()] == [PICTURE]
        assert evidence(store, "b") == with_media(PICTURE)
        store.delete(["b"])
        assert objects(tmp_path / "big") == {}
        assert store._database.rows("SELECT hash FROM artefacts") == []


def test_a_store_deletes_only_its_own_objects(url: str, tmp_path: Path) -> None:
    with (
        opened(url, tmp_path / "big") as store,
        opened(str(tmp_path / "other.db"), tmp_path / "big") as other,
    ):
        write(store, "a", PICTURE)
        write(other, "a", PICTURE)
        store.delete(["a"])
        assert evidence(other, "a") == with_media(PICTURE)


# --- A writer that has written its object, and has not committed its row yet -------------------------------------------


def _deleted_meanwhile(other: SqlStore) -> None:
    collect_artefacts(other._database)


def _write_and_delete(other: SqlStore) -> None:
    write(other, "same", PICTURE)
    other.delete(["same"])


def _died_after_deletion(other: SqlStore) -> None:
    """Delete the objects, and end before the commit."""
    delete = Deletion.delete

    def delete_and_die(self: Deletion, place: str, names: Any) -> bool:
        delete(self, place, names)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Deletion, "delete", delete_and_die)
        with pytest.raises(KeyboardInterrupt):
            collect_artefacts(other._database)


@pytest.mark.nightly(check=6)
@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [
        ("", _deleted_meanwhile),
        ("", _died_after_deletion),
        ("", lambda other: write(other, "same", PICTURE)),
        ("", _write_and_delete),
        ("used", lambda other: other.delete(["before"])),
        ("a deletion died", _deleted_meanwhile),
        ("a deletion died", _died_after_deletion),
        ("a deletion died", lambda other: write(other, "same", PICTURE)),
        ("a deletion died", lambda other: None),
    ],
    ids=[
        "collected",
        "collection died",
        "stored by another run",
        "stored and deleted by another run",
        "last use deleted",
        "collected after a deletion that died",
        "two deletions died",
        "stored by another run after a deletion that died",
        "written after a deletion that died",
    ],
)
def test_a_row_never_names_an_object_that_was_deleted(
    url: str, tmp_path: Path, before: str, meanwhile: Callable[[SqlStore], object]
) -> None:
    with opened(url, tmp_path / "big") as store, opened(url, tmp_path / "big") as other:
        write(store, "writes", SMALL)
        write(other, "other", SMALL)
        media = {name_of(PICTURE): PICTURE}
        if before == "used":
            write(store, "before", PICTURE)
        elif before:
            upload(store._database, media)
            _died_after_deletion(other)
        uploaded = upload(store._database, media)
        meanwhile(other)
        run = store._line("writes").seq
        with store._database.transaction() as transaction:
            write_media(transaction, store._database, run, media, uploaded)
        collect_artefacts(other._database)
        assert [*objects(tmp_path / "big").values()] == [PICTURE]


def test_an_object_whose_commit_never_came_is_deleted_with_the_next_runs(url: str, tmp_path: Path) -> None:
    with opened(url, tmp_path / "big") as store:
        write(store, "a", SMALL)
        upload(store._database, {name_of(PICTURE): PICTURE})
        (tmp_path / "big" / "notes.txt").write_text("of somebody else")
        store.delete(["a"])
        assert [*objects(tmp_path / "big").values()] == [b"of somebody else"]


# --- What can be wrong ---------------------------------------------------------------------------------------------------


def _only_file(folder: Path) -> Path:
    (path,) = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "stores")
    return path


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: path.unlink(), "is missing. Put it back from a backup; if all artefacts were moved"),
        (
            lambda path: path.write_bytes(PICTURE[:-1]),
            "is damaged: its content does not have the hash in its name",
        ),
        (lambda path: path.write_bytes(b""), "is damaged"),
    ],
    ids=["missing", "cut", "empty"],
)
def test_an_object_that_is_not_whole_is_never_a_result(
    tmp_path: Path, harm: Callable[[Path], object], message: str
) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "a", PICTURE)
    path = _only_file(tmp_path / "big")
    harm(path)
    with opened(str(tmp_path / "runs.db")) as store:
        with pytest.raises(StoreError, match=message) as raised:
            evidence(store, "a")
        assert str(path) in str(raised.value)
        assert str(raised.value).startswith(store.name)
        assert len(store.load("a").cases[0].trials) == 1  # what does not need it is shown


def test_the_folder_may_be_moved_if_the_setting_names_its_new_location(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "a", PICTURE)
    (tmp_path / "big").rename(tmp_path / "moved")
    with opened(str(tmp_path / "runs.db"), tmp_path / "moved") as store:
        assert evidence(store, "a") == with_media(PICTURE)
        write(store, "b", SOUND)
        store.delete(["a"])
        assert [*objects(tmp_path / "moved").values()] == [SOUND]


def test_a_damaged_row_of_an_object_is_damage_of_the_store(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "a", PICTURE)
        with store._database.transaction() as transaction:
            transaction.execute("UPDATE artefacts SET place = place || 'x'")
        with pytest.raises(StoreError, match="the store is damaged: case 0 of run a cannot be read"):
            evidence(store, "a")


@pytest.mark.parametrize(
    "location",
    [
        "s3://KEY:hunter2@bucket/f",
        "s3://bucket/f?secret=hunter2",
        "https://me:hunter2@host/f",
        "s3://",
        "s3:///f",
    ],
)
def test_a_location_is_a_folder_or_a_bucket_without_secrets(location: str) -> None:
    with pytest.raises(
        SetupError, match="expected a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER"
    ) as raised:
        check_location(location)
    assert "hunter2" not in str(raised.value)


def test_a_folder_that_cannot_be_written_is_reported_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("a file")
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        with pytest.raises(
            StoreError, match=r"^artefacts: .*big.*cannot be created: .*\. Correct the setting `artefacts`"
        ):
            begun(store)
        assert store.index(None) == []


def test_without_the_location_of_its_artefacts_no_run_is_deleted(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "a", PICTURE)
    shutil.rmtree(tmp_path / "big")
    (tmp_path / "big").write_text("a file now")
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        with pytest.raises(StoreError, match=r"^artefacts: .*Correct the setting `artefacts`"):
            store.delete(["a"])
        assert [one.run_id for one in store.index(None)] == ["a"]


def test_a_deletion_that_leaves_artefacts_reports_what_is_deleted(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "a", PICTURE)
    place = next((tmp_path / "big").rglob(name_of(PICTURE)))
    place.unlink()
    place.mkdir()
    with opened(str(tmp_path / "runs.db")) as store:
        with pytest.raises(
            StoreError,
            match=r"^1 run deleted, but not all artefacts that no run uses any more: .*`proctor prune` deletes the others$",
        ):
            store.delete(["a"])
        assert store.index(None) == []


def test_a_failed_upload_reports_nothing_as_stored(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        heard = Heard()
        writer = begun(store, "a", heard=heard)
        shutil.rmtree(store._database.artefacts.place)
        Path(store._database.artefacts.place).write_text("a file now")
        writer.put([TrialRecord(0, 0, 0, with_media(PICTURE), failed=False, case=b"{}")], "token")
        with pytest.raises(
            StoreError,
            match=r"cannot be written: Not a directory\. Make .* continue the run with `proctor resume`$",
        ):
            writer.finish(RunSummary(), complete=False)
        assert (heard.tokens, heard.failed) == ([], ["token"])
        assert store._database.rows("SELECT COUNT(*) FROM trials") == [(0,)]


# --- Copies, and stores of earlier versions ------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [("", "b"), ("a", ""), ("a", "b"), ("a", "a")])
def test_a_copy_has_its_own_objects(tmp_path: Path, before: str, after: str) -> None:
    folders = {name: tmp_path / name if name else "" for name in ("", "a", "b")}
    with (
        opened(str(tmp_path / "1.db"), folders[before]) as source,
        opened(str(tmp_path / "2.db"), folders[after]) as target,
    ):
        write(source, "run", PICTURE, SMALL)
        assert target.copy_run(source, "run")
        source.delete(["run"])
        assert evidence(target, "run") == with_media(PICTURE, SMALL)
        assert target._database.rows("SELECT COUNT(*) FROM media") == [(1 if after else 2,)]


@pytest.mark.parametrize("deletes", ["the original", "the copy"])
def test_what_a_copied_file_shares_with_the_original_is_not_deleted(tmp_path: Path, deletes: str) -> None:
    first, second = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    with opened(first, tmp_path / "big") as store:
        write(store, "both", PICTURE)
    shutil.copy(first, second)
    with opened(first, tmp_path / "big") as store, opened(second, tmp_path / "big") as copy:
        write(copy, "of the copy", SOUND)
        one, other, run = (store, copy, "of the copy") if deletes == "the original" else (copy, store, "both")
        with pytest.warns(
            UserWarning, match="their artefacts remain, because another store uses the same folder"
        ):
            one.delete(["both"])
        assert evidence(other, run)
        mark = one._database.identity().id
        next(
            (tmp_path / "big").glob(f"*/stores/{mark}")
        ).unlink()  # as the message asks, if `one` no longer exists
        other.delete([other_run.run_id for other_run in other.runs()])
        assert objects(tmp_path / "big") == {}


def test_what_the_original_deleted_is_written_again_by_a_run_of_the_copy(tmp_path: Path) -> None:
    first, second = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    with opened(first, tmp_path / "big") as store:
        write(store, "both", PICTURE)
    shutil.copy(first, second)
    with opened(first, tmp_path / "big") as store:
        store.delete(["both"])
        assert objects(tmp_path / "big") == {}
    with opened(second, tmp_path / "big") as copy:
        write(copy, "of the copy", PICTURE)
        assert evidence(copy, "of the copy") == with_media(PICTURE)


def test_a_deletion_in_a_copied_project_leaves_the_objects_of_the_original(tmp_path: Path) -> None:
    with opened(str(tmp_path / "a" / "runs.db"), tmp_path / "a" / "big") as store:
        write(store, "run", PICTURE)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with (
        opened(str(tmp_path / "b" / "runs.db"), tmp_path / "b" / "big") as copy,
        pytest.warns(UserWarning, match="remain"),
    ):
        copy.delete(["run"])
    with opened(str(tmp_path / "a" / "runs.db"), tmp_path / "a" / "big") as store:
        assert evidence(store, "run") == with_media(PICTURE)


def test_a_moved_store_still_deletes_its_objects(tmp_path: Path) -> None:
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "run", PICTURE)
    (tmp_path / "runs.db").rename(tmp_path / "moved.db")
    with opened(str(tmp_path / "moved.db"), tmp_path / "big") as store:
        store.delete(["run"])
    assert objects(tmp_path / "big") == {}


def test_a_store_of_an_earlier_version_keeps_its_media_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = database.schema_files()[:9]
    with monkeypatch.context() as patch:
        patch.setattr(database, "schema_files", lambda: earlier)
        with opened(str(tmp_path / "runs.db")) as store:
            write(store, "old", PICTURE)
    with opened(str(tmp_path / "runs.db"), read_only=True) as store:
        assert evidence(store, "old") == with_media(PICTURE)
    with opened(str(tmp_path / "runs.db"), tmp_path / "big") as store:
        write(store, "new", PICTURE, SOUND)  # the picture is stored already
        assert [*objects(tmp_path / "big").values()] == [SOUND]
        assert evidence(store, "new") == with_media(PICTURE, SOUND)


# --- Buckets -------------------------------------------------------------------------------------------------------------


@contextmanager
def _s3(patch: pytest.MonkeyPatch) -> Iterator[str]:
    import fsspec
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "ENDPOINT_URL": f"http://{host}:{port}",
        "ACCESS_KEY_ID": "k",
        "SECRET_ACCESS_KEY": "s",
    }.items():
        patch.setenv(f"AWS_{name}", value)
    fsspec.filesystem("s3").mkdir("large-things")
    try:
        yield "s3://large-things/of/proctor/"
    finally:
        server.stop()


@contextmanager
def _gcs(patch: pytest.MonkeyPatch) -> Iterator[str]:
    from gcp_storage_emulator.server import create_server

    patch.setenv(
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"
    )  # it would ask another service about the bucket
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="large-things")
    server.start()
    patch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{server._api._httpd.socket.getsockname()[1]}")
    try:
        yield "gs://large-things/of/proctor"
    finally:
        server.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # of gcsfs
@pytest.mark.parametrize(
    ("bucket", "needed"),
    [(_s3, ("s3fs", "moto")), (_gcs, ("gcsfs", "gcp_storage_emulator"))],
    ids=["s3", "gcs"],
)
def test_a_bucket_is_a_location(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: Any, needed: tuple[str, ...]
) -> None:
    if missing := [name for name in needed if find_spec(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with bucket(monkeypatch) as location, opened(str(tmp_path / "runs.db"), location) as store:
        write(store, "a", PICTURE, SOUND)
        write(store, "b", PICTURE)
        place, artefacts = store._database.artefacts.place, Artefacts()
        assert place.startswith(
            "s3://large-things/of/proctor/" if "s3" in location else "gs://large-things/of/proctor/"
        )
        assert sorted(artefacts.names(place)) == sorted([name_of(PICTURE), name_of(SOUND)])
        assert evidence(store, "a") == with_media(PICTURE, SOUND)
        upload(store._database, {name_of(SMALL * 100): SMALL * 100})
        store.delete(["a"])
        assert [*artefacts.names(place)] == [name_of(PICTURE)]
        store._database.artefacts.open(place, StoreId("a-copy", "copy.db"))
        with pytest.warns(UserWarning, match=f"delete its mark \\({place}/stores/a-copy\\)"):
            store.delete(["b"])
        assert [*artefacts.names(place)] == [name_of(PICTURE)]
        write(store, "b", PICTURE)
        assert Deletion(artefacts, lambda: StoreId("a-copy", "")).delete(place, [name_of(PICTURE)]) is False
        _objects(place).delete("stores/a-copy")
        assert Deletion(artefacts, store._database.identity).delete(place, [name_of(PICTURE)])
        with (
            opened(str(tmp_path / "runs.db")) as again,
            pytest.raises(StoreError, match=f"{place}.* is missing"),
        ):
            evidence(again, "b")
        with pytest.raises(
            StoreError, match="the bucket does not exist, or there is no permission to see it"
        ):
            Artefacts().open(location.replace("large-things", "nothing-here"), StoreId("a", "a.db"))


# --- As a user ------------------------------------------------------------------------------------------------------------

AGENT = """
from proctor import Content, Event, types


async def root_agent(text: str):
    picture = types.Blob(mime_type="image/png", data=b"\\x89PNG" + b"picture" * 100_000)
    yield Event(author="agent", content=Content(role="model", parts=[types.Part(text="done"), types.Part(inline_data=picture)]))
"""
CASES = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
    {"user_content": {"parts": [{"text": "draw"}]}, "final_response": {"parts": [{"text": "done"}]}}]}]}  # fmt: skip


@pytest.mark.slow
def test_the_setting_holds_for_all_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("draws.py").write_text(AGENT)
    Path("s.evalset.json").write_text(json.dumps(CASES))
    Path("c.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    Path("proctor.toml").write_text('artefacts = "large"\n')
    run = in_this_process("eval", "draws.py", "s.evalset.json", "--config", "c.json", "--store", "runs.db")
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(objects(Path("large"))) == 1
    assert in_this_process("import", "runs.db", "--store", "copy.db").returncode == 0
    assert len(list(Path("large").rglob("*/??/*"))) == 2
    for store in ("runs.db", "copy.db"):
        assert in_this_process("export", "latest", "--store", store, "--format", "jsonl").returncode == 0
        assert in_this_process("prune", "--keep", "0", "--yes", "--store", store).returncode == 0
    assert objects(tmp_path / "large") == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("ftp://me:hunter2@host", "artefacts: expected a folder"),
        ("c.json", "c.json/"),
        ("s3://nothing:1/x", "artefacts: expected"),
    ],
)
def test_a_wrong_setting_ends_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("draws.py").write_text("def root_agent(text):\n    open('called', 'w')\n")
    Path("s.evalset.json").write_text(json.dumps(CASES))
    Path("c.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    Path("proctor.toml").write_text(f'artefacts = "{location}"\n')
    run = in_this_process("eval", "draws.py", "s.evalset.json", "--config", "c.json")
    assert run.returncode == 2
    assert message in run.stderr
    assert "hunter2" not in run.stdout + run.stderr
    assert not Path("called").exists()
