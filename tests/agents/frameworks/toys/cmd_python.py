"""The toy as a program in Python that speaks JSON lines (`cmd:`): the answers of `http_sse`, a line each."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if __name__ == "__main__":  # as `tests.agents.frameworks`, wherever it is started
    sys.path[:0] = [str(Path(__file__).resolve().parents[4])]

from tests.agents.frameworks.toys.http_sse import answers


@contextmanager
def serve() -> Iterator[str]:
    """Give the AGENT string; Proctor starts it."""
    yield f"cmd:{sys.executable} {Path(__file__).resolve()}"


def main() -> None:
    """Answer each turn."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "turn":
            print("\n".join(json.dumps(answer) for answer in answers(request)), flush=True)


if __name__ == "__main__":
    main()
