"""Ends what was started when whoever started it is gone, however it went. Run as a program of its own; stands alone.

Its standard input says `+GROUP` and `-GROUP`, a line each; when that ends, the groups that are left are killed.
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
