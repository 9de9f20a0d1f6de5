"""Makes the environments of the peers that Proctor is compared with, each in a separate folder.

    python benchmarks/peers.py FOLDER [adk] [pydantic-evals]

FOLDER should be outside the repository (google-adk takes about 1 GB). Measure with them by
`python benchmarks/run.py --peers FOLDER`. An existing environment is kept.
rouge-score, a peer too, comes with the requirements of the tests: it is measured in the same process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "adk": ["google-adk[eval]==2.13.0"],
    "pydantic-evals": ["pydantic-evals==2.62.0"],
}
"""What each environment holds: the versions that the published figures were taken with."""


def python_of(folder: Path | None, peer: str) -> Path | None:
    """The interpreter of a peer's environment; `None` where there is none."""
    if folder is None:
        return None
    python = folder / peer / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return python.absolute() if python.exists() else None


def make(folder: Path, peer: str) -> None:
    """Make one environment and compile what is in it, as an installer does on a normal machine."""
    home = folder / peer
    print(f"{peer}: {', '.join(PACKAGES[peer])} into {home}", flush=True)
    venv.create(home, with_pip=True, clear=True)
    python = python_of(folder, peer)
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([str(python), "-m", "pip", "install", *quiet, *PACKAGES[peer]], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"of {', '.join(PACKAGES)} (all of them)")
    asked = parser.parse_args()
    unknown = set(asked.peers) - PACKAGES.keys()
    if unknown:
        sys.exit(f"unknown peer {', '.join(sorted(unknown))}: expected {', '.join(PACKAGES)}")
    for peer in asked.peers or PACKAGES:
        if python_of(asked.folder, peer) is None:
            make(asked.folder, peer)


if __name__ == "__main__":
    main()
