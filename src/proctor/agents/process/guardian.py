"""Ends process groups when their starter is gone, however it ended. Runs as a separate program, without other modules.

It reads `+GROUP` and `-GROUP` lines from standard input; at the end of input it kills the remaining groups.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Wait for the end of the input, then end the groups that are left."""
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        known = groups.add if line[:1] == b"+" else groups.discard
        known(int(line[1:]))
    for group in groups:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
