"""Console blocks: the commands that a page shows, and their output according to the page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What differs from one honest run to the next; both sides are rewritten before they are compared.
_VOLATILE = [
    # the progress of a run that takes over a second, as on a busy machine
    (re.compile(r"^\d+/\d+ trials \(\d+ %\): .*(\n|\Z)", re.MULTILINE), ""),
    (re.compile(r"\b\d+(\.\d+)?\s?(ms|s|µs)\b"), "0.0 s"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?\b"), "2026-01-01 00:00"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
]


@dataclass(frozen=True)
class Step:
    """One command and the lines that the page shows below it ("" where it shows none)."""

    command: str
    shown: str


def steps(text: str) -> Iterator[Step]:
    """Splits a console block at its `$ ` prompts; a line that ends in a backslash continues in the next."""
    command: str | None = None
    shown: list[str] = []
    continued = False
    for line in text.splitlines():
        if continued and command is not None:
            command += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            if command is not None:
                yield Step(command, "\n".join(shown))
            command, shown = line[2:], []
        elif command is None:
            raise ValueError(f"a console block starts with a command after `$ `, not with {line!r}")
        else:
            shown.append(line)
            continue
        continued = line.endswith("\\")
    if command is not None:
        yield Step(command, "\n".join(shown))


def agrees(shown: str, printed: str) -> bool:
    """True where the page's text is what was printed. `...` matches anything; alone in a line, for any lines."""
    return (
        re.fullmatch(_pattern(_stable(shown).strip("\n")), _stable(printed).strip("\n"), re.DOTALL)
        is not None
    )


def _stable(text: str) -> str:
    for volatile, fixed in _VOLATILE:
        text = volatile.sub(fixed, text)
    return text


def _pattern(shown: str) -> str:
    lines = shown.split("\n")
    parts = []
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        if line.strip() == "...":
            parts.append(r".*" if last else r"(?:.*\n)??")
        else:
            anything = r"[^\n]*".join(re.escape(piece) for piece in line.split("..."))
            parts.append(anything + ("" if last else r"\n"))
    return "".join(parts)
