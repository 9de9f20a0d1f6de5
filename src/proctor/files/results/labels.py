"""Human labels in files: CSV, JSON, JSON lines or YAML, one label per row."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.errors import EvalFileError, did_you_mean
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    problems_at,
    read_bytes,
    read_document,
    read_json_document,
)
from proctor.files.text.json_decode import decode
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import DocumentFinding
from proctor.schema.analysis.calibration import HumanLabel

COLUMNS = ("eval_id", "label", "eval_set_id", "trial", "turn", "rubric_id", "metric", "note", "labeller")
"""The columns of a label; the first two are required. Trials and turns count from 1."""
OTHER_NAMES = {"case": "eval_id", "case_id": "eval_id", "evalId": "eval_id", "evalSetId": "eval_set_id"}
OTHER_NAMES |= {"annotator": "labeller", "labeler": "labeller", "rater": "labeller"}
OTHER_NAMES |= {"rubricId": "rubric_id", "rubric": "rubric_id", "set": "eval_set_id"}
_WORDS = {"pass": True, "passed": True, "fail": False, "failed": False, "1": True, "0": False}
_WORDS |= {"true": True, "false": False, "yes": True, "no": False}
_IN_FILE = {"labels"}
_EXPECTED = "each row has at least eval_id and label (pass or fail)"


@dataclass(frozen=True, slots=True)
class _Values:
    """A row of a file: its values by name, and its position."""

    values: Mapping[Any, Any]
    file: str
    line: int
    column: int = 1


_Rows = list[_Values]


def read_labels(path: str | Path) -> list[HumanLabel]:
    """Return the labels in a file, in order; equal rows are returned once.

    JSON and YAML contain a list of objects (or `{"labels": [...]}`), JSON lines an object per line, CSV a first line with
    the names of the columns. The label is `pass` or `fail`, 1 or 0, true or false.

    Raises:
        EvalFileError: the file cannot be read, or rows are invalid; with every problem and its position.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        rows = _csv_rows(path)
    elif path.suffix.lower() == LINES_SUFFIX:
        rows = _line_rows(path)
    else:
        rows = _document_rows(path)
    problems: list[Problem] = []
    labels = [label for row in rows if (label := _Row(row, problems).label()) is not None]
    if not labels and not problems:
        problems.append(Problem("error", str(path), 1, 1, "", "the file contains no labels", _EXPECTED))
    problems += _contradictions(labels)
    if problems:
        raise file_error(problems)
    return list({_key(label): label for label in labels}.values())


# --- the forms of a file -----------------------------------------------------------------------------------------------


def _csv_rows(path: Path) -> _Rows:
    import csv

    name = str(path)
    text = decode(read_bytes(path, name), name)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, header, first = [], None, 1
    try:
        for cells in reader:
            line, first = first, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, name, line)
            else:
                rows.append(_Values(_cells(header, cells, name, line), name, line))
    except csv.Error as error:
        raise file_error([Problem("error", name, first, 1, "", f"this is not CSV: {error}")]) from None
    return rows


def _header(cells: list[str], name: str, line: int) -> list[str]:
    header = [cell.strip().lstrip("\ufeff") for cell in cells]
    duplicates = {cell for cell in header if header.count(cell) > 1}
    missing = [
        column for column in COLUMNS[:2] if column not in [OTHER_NAMES.get(cell, cell) for cell in header]
    ]
    if duplicates or missing:
        message = f"duplicate column {min(duplicates)}" if duplicates else f"missing column {missing[0]}"
        hint = f"the first line names the columns: {', '.join(COLUMNS)}"
        raise file_error([Problem("error", name, line, 1, "", message, hint)])
    return header


def _cells(header: list[str], cells: list[str], name: str, line: int) -> dict[str, str]:
    if len(cells) > len(header):
        message = f"the line has {len(cells)} cells, the first line names {len(header)} columns"
        raise file_error([Problem("error", name, line, 1, "", message, "put text with a comma in quotes")])
    return {column: cell.strip() for column, cell in zip(header, cells, strict=False) if cell.strip()}


def _line_rows(path: Path) -> _Rows:
    name = str(path)
    rows, problems = [], []
    for number, line in enumerate(read_bytes(path, name).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = read_json_document(line, name).value
        except EvalFileError as error:
            problems += [replace(problem, line=number) for problem in error.problems]
            continue
        if isinstance(value, dict):
            rows.append(_Values(value, name, number))
        else:
            problems.append(Problem("error", name, number, 1, "", "expected an object", _EXPECTED))
    if problems:
        raise file_error(problems)
    return rows


def _document_rows(path: Path) -> _Rows:
    document = read_document(path)
    value: Any = document.value
    base: tuple[str, ...] = ()
    if isinstance(value, dict) and value.keys() == _IN_FILE:
        value, base = value["labels"], ("labels",)
    if not isinstance(value, list):
        finding = DocumentFinding(base, "expected a list of labels", _EXPECTED)
        raise file_error(problems_at(document, [finding]))
    invalid = [
        DocumentFinding((*base, index), "expected an object", _EXPECTED)
        for index, row in enumerate(value)
        if not isinstance(row, dict)
    ]
    if invalid:
        raise file_error(problems_at(document, invalid))
    places = document.locate([(*base, index) for index in range(len(value))])
    return [_Values(row, document.name, *places.value((*base, index))) for index, row in enumerate(value)]


# --- a row -------------------------------------------------------------------------------------------------------------


class _Row:
    """Reads one row and reports its errors in `problems`."""

    def __init__(self, row: _Values, problems: list[Problem]) -> None:
        self._row, self._problems, self._before = row, problems, len(problems)
        self._values = {OTHER_NAMES.get(str(key), str(key)): value for key, value in row.values.items()}

    def label(self) -> HumanLabel | None:
        """Return the label, or `None` if the row has errors."""
        for name in self._values.keys() - set(COLUMNS):
            self._report(
                f"unknown column {name!r}.{did_you_mean(name, COLUMNS)}", f"known: {', '.join(COLUMNS)}"
            )
        eval_id, passes = self._text("eval_id", required=True), self._passes()
        label = HumanLabel(
            eval_id=eval_id,
            passes=bool(passes),
            eval_set_id=self._text("eval_set_id"),
            trial=self._number("trial"),
            turn=self._number("turn"),
            rubric_id=self._text("rubric_id"),
            metric=self._text("metric"),
            note=self._text("note"),
            labeller=self._text("labeller"),
            place=f"{self._row.file}:{self._row.line}:{self._row.column}",
        )
        return label if len(self._problems) == self._before else None

    def _passes(self) -> bool | None:
        value = self._values.get("label")
        word = str(value).strip().lower()
        if value in (0, 1) or (isinstance(value, str) and word in _WORDS):
            return _WORDS[str(int(value))] if not isinstance(value, str) else _WORDS[word]
        self._report(
            f"label: expected pass or fail (or 1 or 0), got {value!r}"
            if value is not None
            else "the label is missing"
        )
        return None

    def _number(self, name: str) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        text = str(value)
        if (
            isinstance(value, int | str)
            and not isinstance(value, bool)
            and text.isdecimal()
            and int(text) >= 1
        ):
            return int(text) - 1
        self._report(f"{name}: expected a whole number from 1, got {value!r}")
        return None

    def _text(self, name: str, *, required: bool = False) -> str:
        value = self._values.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
            return str(value)
        if value is not None and value != "":
            self._report(f"{name}: expected a text, got {value!r}")
        elif required:
            self._report(f"{name} is missing")
        return ""

    def _report(self, message: str, hint: str = "") -> None:
        row = self._row
        self._problems.append(Problem("error", row.file, row.line, row.column, "", message, hint))


def _key(label: HumanLabel) -> tuple[object, ...]:
    item = (label.eval_set_id, label.eval_id, label.trial, label.turn, label.rubric_id, label.metric)
    return (*item, label.labeller)


def _contradictions(labels: Iterable[HumanLabel]) -> Iterator[Problem]:
    """Report different labels of one person for the same thing."""
    first: dict[tuple[object, ...], HumanLabel] = {}
    for label in labels:
        other = first.setdefault(_key(label), label)
        if other.passes is not label.passes:
            file, line, column = label.place.rsplit(":", 2)
            message = f"{label.eval_id} has another label{' of the same person' if label.labeller else ''} at {other.place}"
            yield Problem(
                "error",
                file,
                int(line),
                int(column),
                "",
                message,
                "keep one of the two, or name the people in `labeller`",
            )
