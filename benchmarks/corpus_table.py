"""How many published eval files read, by kind, compared with google-adk's verdict on the same files.

    python benchmarks/corpus_table.py [FOLDER]

FOLDER holds the files and their `index.json` (`../shared/corpus` beside the repository when not given).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from proctor.errors import EvalFileError
from proctor.files.eval_sets.load import load_config, load_results, load_scenarios, load_session_input
from proctor.files.eval_sets.source import load_eval_set

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
_LOADERS: dict[str, Any] = {
    "config": load_config,
    "scenarios": load_scenarios,
    "session": load_session_input,
    "result": load_results,
}


def entries(folder: Path) -> list[dict[str, Any]]:
    """The entry of the index for each file."""
    found: list[dict[str, Any]] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return found


def adk_reads(entry: dict[str, Any]) -> bool:
    """Whether google-adk reads the file."""
    return bool(entry["adk_verdict"].get("verdict") != "rejected")


def refusal(folder: Path, entry: dict[str, Any]) -> EvalFileError | None:
    """Why Proctor refuses the file; None: it reads it."""
    try:
        _LOADERS.get(entry["kind"], load_eval_set)(folder / entry["file"])
    except EvalFileError as error:
        return error
    return None


def table(folder: Path) -> str:
    """The table, as text."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in entries(folder):
        adk, ours = adk_reads(entry), refusal(folder, entry) is None
        for kind in (entry["kind"], "all"):
            counts[kind, "files"] += 1
            counts[kind, "adk"] += adk
            counts[kind, "proctor"] += ours
            counts[kind, "only adk"] += adk and not ours
    kinds = [*sorted({kind for kind, _ in counts} - {"all"}), "all"]
    rows = [
        f"| {kind} | {counts[kind, 'files']} | {counts[kind, 'adk']} / {counts[kind, 'files'] - counts[kind, 'adk']} "
        f"| {counts[kind, 'proctor']} / {counts[kind, 'files'] - counts[kind, 'proctor']} | {counts[kind, 'only adk']} |"
        for kind in kinds
    ]
    heading = [
        "| kind | files | ADK read / refused | Proctor read / refused | read by ADK alone |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*heading, *rows])


if __name__ == "__main__":
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    print(table(corpus))
    for refused in entries(corpus):
        if error := refusal(corpus, refused):
            print(f"\nADK {refused['adk_verdict'].get('verdict')}: {refused['file']}")
            print("\n".join(str(error).replace(f"{corpus}/", "").splitlines()[:2]))
