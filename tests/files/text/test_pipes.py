"""Files that are none: pipes and devices, which have no size, are read once, and may never end."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import read_bytes
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.selectors import sets_in
from proctor.files.eval_sets.source import load_eval_set, open_eval_set
from tests.files.sample_sets import case, eval_set

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@contextmanager
def piped(path: Path, text: str) -> Iterator[Path]:
    """A pipe with a writer."""
    os.mkfifo(path)
    writer = Thread(target=path.write_text, args=(text,), kwargs={"encoding": "utf-8"})
    writer.start()
    yield path
    writer.join()


def test_a_set_is_read_from_a_pipe_as_from_a_file(tmp_path: Path) -> None:
    text = json.dumps(eval_set(case("a"), case("b")))
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    file = open_eval_set(tmp_path / "file.json")
    with piped(tmp_path / "pipe", text) as path:
        opened = open_eval_set(path)
    assert (list(opened.ids()), opened.content_hash) == (["a", "b"], file.content_hash)
    assert opened.where(1) == f"{path}:1"


def test_what_is_wrong_in_a_pipe_has_its_place(tmp_path: Path) -> None:
    text = '{"eval_set_id": "s",\n "eval_cases": [{"eval_id": 3}]}'
    with piped(tmp_path / "pipe", text) as path, pytest.raises(EvalFileError, match=r"pipe:2:29: error: "):
        load_eval_set(path)
    with piped(tmp_path / "other", text) as path:
        assert not check_file(path).readable


def test_a_device_without_an_end_is_read_no_further_than_a_file_may_be(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="the file has no end; at most 1 MiB are read whole"):
        read_bytes(Path("/dev/zero"), "zero", limit=1 << 20)


def test_pipe_in_a_folder_is_not_a_set(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.evalset.json")
    (tmp_path / "set.evalset.json").write_text("{}")
    (tmp_path / "gone.evalset.json").symlink_to("nowhere")
    assert [path.name for path in sets_in(tmp_path)] == ["gone.evalset.json", "set.evalset.json"]
