"""Writing: whole or not at all, the mode and the links kept, comments never lost in silence."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets import save
from proctor.files.eval_sets.save import save_eval_set, write_text
from proctor.files.eval_sets.source import load_eval_set, load_eval_set_text
from proctor.schema.format.case import EvalSet

SET = EvalSet.model_validate(
    {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [], "note": "é"}]}
)
TEXT = '{\n  "eval_set_id": "s",\n  "eval_cases": [\n    {\n      "eval_id": "a",\n      "conversation": [],\n      "note": "é"\n    }\n  ]\n}'


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_set_is_written_as_adk_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    save_eval_set(SET, path)
    assert path.read_bytes() == TEXT.encode()
    assert load_eval_set(path) == SET
    assert names(tmp_path) == ["s.evalset.json"]


def test_what_adk_wrote_is_written_back_byte_for_byte(shared: Path, tmp_path: Path) -> None:
    for original in sorted((shared / "golden" / "files").glob("*.evalset.json")):
        save_eval_set(load_eval_set(original), tmp_path / "copy.json")
        assert (tmp_path / "copy.json").read_bytes() == original.read_bytes(), original.name


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    real, link = tmp_path / "data" / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert names(tmp_path / "data") == ["real"]


CALLS = ["open", "fsync", "chmod", "replace"]


@pytest.mark.parametrize("call", CALLS)
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    owner = os if call == "fsync" else Path
    monkeypatch.setattr(owner, call, fail)
    with pytest.raises(EvalFileError, match="cannot be written: No space left on device"):
        write_text(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_the_text_is_on_disk_before_it_takes_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "text")
        fsync(handle)

    def note_replace(self: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    write_text(tmp_path / "f", "x")
    assert steps == ["text", "rename", "folder"]


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "nowhere" / "f", "x")


def test_a_file_with_comments_is_not_rewritten_without_saying_so(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    text = '{"eval_set_id": "s", # mine\n "eval_cases": []}'
    path.write_text(text)
    with pytest.raises(EvalFileError, match="has comments, and JSON cannot keep them; it was not changed"):
        save_eval_set(SET, path)
    assert path.read_text() == text
    save_eval_set(SET, path, comments_may_go=True)
    assert path.read_text() == TEXT


@pytest.mark.parametrize("text", ['{"a": "# no comment"}', '{"a": 1,}', "", "\xff not JSON"])
def test_a_file_without_comments_is_rewritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text, encoding="latin-1")
    save_eval_set(SET, path)
    assert path.read_text() == TEXT


def test_json_is_not_written_into_a_yaml_file(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="JSON cannot be written to a YAML file"):
        save_eval_set(SET, tmp_path / "s.yaml")


def test_nothing_that_was_read_is_lost(tmp_path: Path) -> None:
    text = (
        '{"evalSetId": "s", "owner": null, "evalCases": [{"evalId": "a", "conversation": [{"userContent": {"parts": '
        '[{"text": "q", "brandNew": {"k": [1, 2.50]}}]}, "mood": "good"}], "tags": ["x"]}]}'
    )
    path = tmp_path / "s.json"
    original = load_eval_set_text(text)
    save.save_eval_set(original, path)
    assert load_eval_set(path) == original
    assert '"brandNew"' in path.read_text()
