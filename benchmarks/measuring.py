"""Runs contestants in separate processes, alternating, and takes medians."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
Found = dict[str, float]
"""What one measurement gave: `wall` and `cpu` in seconds, `peak` in MB, and what the script adds."""


class NotMeasured(Exception):  # noqa: N818 - not an error: the table gives the reason
    """A contestant cannot be measured here; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to start, and which exit codes mean that it worked."""

    words: Sequence[str]
    reports: bool = True
    """Whether its last line contains its measurements, in JSON."""
    exit_codes: tuple[int, ...] = (0,)

    def __call__(self) -> Found:
        """Run it once. `process_wall` and `process_cpu` are those of the whole process, start and end included.

        `peak` is measured from outside where the process does not report it (on Linux it is then at least what this
        process holds, so only for contestants that need more).

        Raises:
            NotMeasured: it ended with another exit code.
        """
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            began = time.perf_counter()
            process = subprocess.Popen(self.words, stdout=out, stderr=err, cwd=ROOT, env=_environment())
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            last, complained = _last_line(out), _last_line(err)
        if process.returncode not in self.exit_codes:
            raise NotMeasured(f"exit code {process.returncode}: {complained or last}")
        peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        outside = {"process_wall": wall, "process_cpu": used.ru_utime + used.ru_stime, "peak": peak}
        return {**outside, **json.loads(last)} if self.reports else outside


def module(name: str, *words: object, python: Path | str = sys.executable) -> Command:
    """A script of this folder."""
    return Command([str(python), "-m", f"benchmarks.{name}", *map(str, words)])


def code(text: str, *, python: Path | str = sys.executable) -> Command:
    """A piece of Python that prints its own peak memory; its time is that of the whole process."""
    return Command([str(python), "-c", f"{text}\n{_TELL_PEAK}"])


_TELL_PEAK = """
try:
    kilobytes = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print('{"peak": %f}' % (kilobytes / 1000))
except OSError:
    print("{}")
"""


def alternate(contestants: Mapping[str, Callable[[], Found]], repeats: int) -> dict[str, Found]:
    """Medians of `repeats` rounds, in each of which every contestant runs once; one round before is not counted.

    The uncounted round writes the byte code and warms the disk's cache (with no `repeats` it is the only one, and
    counts). A contestant that cannot be measured is left
    out, and the reason is printed.
    """
    taken: dict[str, list[Found]] = {name: [] for name in contestants}
    for count in range(repeats + 1):
        for name, run in contestants.items():
            if name not in taken:
                continue
            try:
                found = run()
            except NotMeasured as reason:
                print(f"({name} not measured: {reason})", file=sys.stderr)
                del taken[name]
                continue
            if count or not repeats:
                taken[name].append(found)
    return {name: _medians(rounds) for name, rounds in taken.items()}


def _medians(rounds: list[Found]) -> Found:
    return {key: statistics.median(found[key] for found in rounds) for key in rounds[0]}


def _environment() -> dict[str, str]:
    """As on a normal machine: byte code is written, output has no colours."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | {"NO_COLOR": "1"}


def _last_line(file: IO[str]) -> str:
    file.seek(0)
    lines = [line for line in file.read().splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def load_average() -> str:
    """The load of the machine, where it is known."""
    try:
        return ", ".join(f"{load:.1f}" for load in os.getloadavg())
    except OSError:
        return "unknown"


def versions(peers: Mapping[str, Path]) -> dict[str, Any]:
    """Versions of what is measured."""
    found = {"python": ".".join(map(str, sys.version_info[:3])), "cores": str(os.cpu_count())}
    wanted = {"pydantic": Path(sys.executable), "rouge-score": Path(sys.executable), **peers}
    for peer, python in wanted.items():
        name = "google-adk" if peer == "adk" else peer
        asked = f"from importlib.metadata import version; print(version({name!r}))"
        done = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=False)
        found[name] = done.stdout.strip() or "not installed"
    return found
