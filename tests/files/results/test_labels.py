"""Labels of people in files: all forms are equivalent, and problems are reported with their locations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.errors import EvalFileError
from proctor.files.results.labels import read_labels

ROWS = [
    {"eval_id": "rome", "label": "pass"},
    {"eval_id": "oslo", "turn": 2, "label": 0, "note": "wrong day, and rude"},
    {"eval_id": "bern", "turn": 1, "rubric_id": "polite", "label": "1", "eval_set_id": "trips", "trial": 3},
]
CSV = (
    "eval_id,turn,rubric_id,label,note,eval_set_id,trial\n"
    "rome,,,pass,,,\n"
    'oslo,2,,0,"wrong day, and rude",,\n'
    "\n"
    "bern,1,polite,1,,trips,3\n"
)
YAML = """
- {eval_id: rome, label: pass}
- eval_id: oslo
  turn: 2
  label: 0
  note: wrong day, and rude
- {eval_id: bern, turn: 1, rubric_id: polite, label: "1", eval_set_id: trips, trial: 3}
"""
FORMS = [
    pytest.param("labels.csv", CSV, id="CSV"),
    pytest.param("labels.CSV", "\ufeff" + CSV.replace("\n", "\r\n"), id="CSV from a spreadsheet"),
    pytest.param("labels.json", json.dumps(ROWS), id="JSON"),
    pytest.param("labels.json", json.dumps({"labels": ROWS}), id="JSON with a name"),
    pytest.param("labels.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n\n", id="JSON lines"),
    pytest.param("labels.yaml", YAML, id="YAML"),
]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(("name", "text"), FORMS)
def test_all_forms_are_equivalent(tmp_path: Path, name: str, text: str) -> None:
    found = read_labels(written(tmp_path, name, text))
    assert [(one.eval_id, one.passes, one.trial, one.turn, one.rubric_id, one.unit) for one in found] == [
        ("rome", True, None, None, "", "trial"),
        ("oslo", False, None, 1, "", "turn"),
        ("bern", True, 2, 0, "polite", "rubric"),
    ]
    assert (found[1].note, found[2].eval_set_id) == ("wrong day, and rude", "trips")


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        pytest.param("labels.csv", CSV, [2, 3, 5], id="CSV"),
        pytest.param("labels.jsonl", "\n".join(map(json.dumps, ROWS)), [1, 2, 3], id="JSON lines"),
        pytest.param("labels.json", json.dumps(ROWS, indent=1), [2, 6, 12], id="JSON"),
        pytest.param("labels.yaml", YAML, [2, 3, 7], id="YAML"),
    ],
)
def test_each_label_knows_its_line(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    path = written(tmp_path, name, text)
    assert [int(one.place.removeprefix(f"{path}:").partition(":")[0]) for one in read_labels(path)] == lines


@pytest.mark.parametrize("word", ["pass", "PASS", "passed", "1", 1, True, "true", "yes", 1.0])
def test_words_for_a_pass(tmp_path: Path, word: object) -> None:
    (found,) = read_labels(written(tmp_path, "l.json", json.dumps([{"eval_id": "a", "label": word}])))
    assert found.passes is True


@pytest.mark.parametrize("word", ["fail", "Failed", "0", 0, False, "false", "no", 0.0])
def test_words_for_a_fail(tmp_path: Path, word: object) -> None:
    (found,) = read_labels(written(tmp_path, "l.json", json.dumps([{"eval_id": "a", "label": word}])))
    assert found.passes is False


def test_duplicate_label_is_read_once(tmp_path: Path) -> None:
    assert len(read_labels(written(tmp_path, "l.csv", "eval_id,label\na,1\na,pass\nb,0\n"))) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        pytest.param("l.csv", "", "1:1: error: the file contains no labels", id="an empty file"),
        pytest.param("l.csv", "eval_id,label\n", "1:1: error: the file contains no labels", id="no row"),
        pytest.param("l.csv", "eval_id,verdict\na,1\n", "1:1: error: missing column label", id="no label column"),
        pytest.param("l.csv", "eval_id,label,label\n", "1:1: error: duplicate column label", id="twice"),
        pytest.param("l.csv", "eval_id,label\na,1,b\n", "2:1: error: the line has 3 cells", id="too many cells"),
        pytest.param("l.csv", 'eval_id,label\na,"1\n', "2:1: error: this is not CSV", id="an open quote"),
        pytest.param("l.csv", "eval_id,label\na,good\n", "2:1: error: label: expected pass or fail", id="no label"),
        pytest.param("l.csv", "eval_id,label\na,\n", "2:1: error: the label is missing", id="an empty cell"),
        pytest.param("l.csv", "eval_id,label\n,1\n", "2:1: error: eval_id is missing", id="no case"),
        pytest.param("l.csv", "eval_id,lable,label\na,2,1\n", "unknown column 'lable'. Did you mean", id="a slip"),
        pytest.param("l.csv", "eval_id,label,turn\na,1,0\n", "turn: expected a whole number from 1", id="turn 0"),
        pytest.param("l.csv", "eval_id,label,turn\na,1,x\n", "turn: expected a whole number from 1", id="turn x"),
        pytest.param("l.csv", "eval_id,label\na,1\nb,1\na,0\n", "4:1: error: a has another label at", id="both"),
        pytest.param("l.json", "[", "l.json:1:2: error", id="no JSON"),
        pytest.param("l.json", '{"a": 1}', "expected a list of labels", id="no list"),
        pytest.param("l.json", '[{"eval_id": "a", "label": 1},\n 7]', "2:2: error: [1]: expected an object", id="a number"),
        pytest.param("l.json", '[{"eval_id": "a", "label": 0.5}]', "expected pass or fail", id="half"),
        pytest.param("l.json", '[{"eval_id": "a", "label": null}]', "the label is missing", id="null"),
        pytest.param("l.json", '[{"eval_id": "a", "label": [1]}]', "expected pass or fail", id="a list as label"),
        pytest.param("l.json", '[{"eval_id": ["a"], "label": 1}]', "eval_id: expected a text", id="a list as id"),
        pytest.param("l.jsonl", '{"eval_id": "a", "label": 1}\n{"eval_id"', "l.jsonl:2:", id="a torn line"),
        pytest.param("l.jsonl", "3", "1:1: error: expected an object", id="no object"),
        pytest.param("l.csv", "\ud83d", "UTF-8", id="no UTF-8"),
    ],
)  # fmt: skip
def test_invalid_label_is_reported_with_its_location(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(EvalFileError) as caught:
        read_labels(path)
    assert message in str(caught.value)


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "l.csv", "eval_id,label,turn\na,good,0\nb,1,1\n,0,1\n")
    with pytest.raises(EvalFileError) as caught:
        read_labels(path)
    assert [problem.line for problem in caught.value.problems] == [2, 2, 4]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="no such file"):
        read_labels(tmp_path / "none.csv")


def test_two_people_may_label_the_same_and_one_person_once(tmp_path: Path) -> None:
    header = "eval_id,label,annotator\n"
    found = read_labels(written(tmp_path, "labels.csv", f"{header}rome,pass,ann\nrome,fail,ben\n"))
    assert [(one.labeller, one.passes) for one in found] == [("ann", True), ("ben", False)]
    with pytest.raises(EvalFileError, match=r"rome has another label of the same person at .*:2:1"):
        read_labels(written(tmp_path, "labels.csv", f"{header}rome,pass,ann\nrome,fail,ann\n"))
