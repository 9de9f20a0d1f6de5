"""The exit codes of the commands and their meanings; the help and the reference are written from here."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command ends with. The code of a signal is 128 and its number, as in a shell."""

    PASSED = 0
    FAILED = 1
    CONFIGURATION_ERROR = 2
    ERROR = 3
    INCONCLUSIVE = 4
    TERMINAL_CLOSED = 129
    INTERRUPTED = 130
    TERMINATED = 143


LABELS = {code: code.name.lower().replace("_", " ") for code in ExitCode}
"""Each code in a word or two."""
MEANINGS = {
    ExitCode.PASSED: "every case passed, or there was nothing to run (an empty shard, no changed case)",
    ExitCode.FAILED: "at least one case failed",
    ExitCode.CONFIGURATION_ERROR: "the configuration or the command line has errors: nothing was run, and the message names all of them",
    ExitCode.ERROR: "something that a verdict needs could not be computed, not everything was run, every case was skipped, or a report "
    "could not be written",
    ExitCode.INCONCLUSIVE: "the trials are too few for the requested confidence, or for the comparison",
    ExitCode.TERMINAL_CLOSED: "SIGHUP; `proctor resume` runs the rest",
    ExitCode.INTERRUPTED: "Ctrl-C; `proctor resume` runs the rest",
    ExitCode.TERMINATED: "SIGTERM, for example at the time limit of a CI job; `proctor resume` runs the rest",
}
"""When a run ends with each code."""

EXIT_CODES = f"Exit codes: {', '.join(f'{code} {label}' for code, label in LABELS.items())}."
"""The sentence in the help of a command."""
