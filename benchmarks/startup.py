"""W1: what it costs to start: import, `--help`, one case from the command line, size on disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import installed, workload
from benchmarks.measuring import Command, Found, alternate, code, module
from benchmarks.table import BARE, OURS, Budget, Row

IMPORTS = {
    OURS: "from proctor import EvalSet, evaluate",
    BARE: "from pydantic import BaseModel",
    "adk": "from google.adk.evaluation.local_eval_service import LocalEvalService",
    "pydantic-evals": "from pydantic_evals import Case, Dataset",
}
"""What a script imports that evaluates a set; the bare limit is Python with the one library that reads models."""


def rows(folder: Path, peers: Mapping[str, Path], repeats: int, *, install: bool) -> Iterator[Row]:
    """Measure, one row after the other."""
    yield from _imports(peers, repeats)
    yield _help(peers, repeats)
    yield from _one_case(folder, repeats)
    if install:
        yield from installed.rows(folder, peers)


def _imports(peers: Mapping[str, Path], repeats: int) -> Iterator[Row]:
    contestants = {
        name: code(text, python=peers.get(name, sys.executable))
        for name, text in IMPORTS.items()
        if name in {OURS, BARE} or name in peers
    }
    found = alternate(contestants, repeats)
    fast = [Budget(3.1, BARE, "0.25 s"), Budget(1 / 30, "adk"), Budget(1 / 5, "pydantic-evals")]
    yield _row("import of the evaluation entry", "s", found, "process_cpu", fast)
    small = [Budget(40, size="40 MB")]
    yield _row("its memory", "MB", found, "peak", small)


def _help(peers: Mapping[str, Path], repeats: int) -> Row:
    contestants = {
        OURS: Command([sys.executable, "-m", "proctor", "--help"], reports=False),
        BARE: code("import click\nclick.command()(lambda: None).get_help(click.Context(click.Command('x')))"),
    }
    if "adk" in peers:
        words = [str(peers["adk"].with_name("adk")), "--help"]
        contestants["adk"] = Command(words, reports=False)
    found = alternate(contestants, repeats)
    return _row("`--help`", "s", found, "process_cpu", [Budget(0.2, size="0.20 s")])


def _one_case(folder: Path, repeats: int) -> Iterator[Row]:
    given, config = folder / "one.evalset.json", folder / "one_config.json"
    document = workload.eval_set(2)
    document["eval_cases"] = document["eval_cases"][1:]  # the first one fails
    given.write_text(json.dumps(document, indent=2), encoding="utf-8")
    config.write_text(json.dumps({"criteria": {"tool_trajectory_avg_score": 1.0}}), encoding="utf-8")
    words = ["eval", "benchmarks/ours.py:agent", str(given), "--config", str(config)]
    report = ["--report", f"json={folder / 'one_report.json'}"]
    found = alternate(
        {
            OURS: Command([sys.executable, "-m", "proctor", *words, *report], reports=False),
            BARE: Command([*module("bare", "one", given, folder / "bare.json").words], reports=False),
        },
        repeats,
    )
    yield _row(
        "one case from the command line, report written",
        "s",
        found,
        "process_cpu",
        [Budget(0.45 / 0.22, BARE, "0.45 s")],
    )
    yield _row("its memory", "MB", found, "peak", [Budget(60, size="60 MB")])


def _row(what: str, unit: str, found: dict[str, Found], column: str, budgets: list[Budget]) -> Row:
    figures = {name: measured[column] for name, measured in found.items()}
    wall = {name: one["process_wall"] for name, one in found.items()} if column == "process_cpu" else {}
    return Row("W1", what, unit, figures, budgets, wall)
