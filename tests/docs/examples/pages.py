"""Markdown pages as data: the fenced blocks of each, with their place and what their info string asks for."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<ticks>`{3,})(?P<info>[^`]*)$")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    The info string is the language, then words that say how the block is tested:

    * `no-run: reason`     not tested, and why (the rest of the line is the reason)
    * `file=NAME`          the block is what the reader saves under this name
    * `exit=N`             the last command of a console block leaves with this code (else 0)
    * `output`             what the block before it prints
    * `evalset`, `config`, `scenarios`, `session_input`   a json or yaml file of this kind, which `proctor check` reads
    * `warns`              and warns about
    """

    page: str
    line: int
    info: str
    text: str

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]

    @property
    def words(self) -> list[str]:
        return self.info.partition("no-run")[0].split()[1:]

    @property
    def runs(self) -> bool:
        return "no-run" not in self.info

    @property
    def reason_not_to_run(self) -> str:
        return self.info.partition("no-run:")[2].strip()

    def option(self, name: str) -> str | None:
        """The value of `name=value` in the info string."""
        return next((word.partition("=")[2] for word in self.words if word.startswith(f"{name}=")), None)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages(root: Path = ROOT) -> list[Path]:
    """Every page that users read."""
    top = [root / "README.md", root / "CONTRIBUTING.md"]
    below = [path for folder in ("docs", "examples") for path in sorted((root / folder).rglob("*.md"))]
    return [path for path in [*top, *below] if path.is_file()]


def blocks(text: str, page: str) -> list[Block]:
    """The fenced blocks of a page, in order. The line is that of the block's first line of text."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    start = 0
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, start = fence, number + 1
        elif (
            opened is not None
            and fence
            and not fence["info"].strip()
            and len(fence["ticks"]) >= len(opened["ticks"])
        ):
            inside = [one.removeprefix(opened["indent"]) for one in lines[start - 1 : number - 1]]
            found.append(Block(page, start, opened["info"].strip(), "\n".join(inside) + "\n"))
            opened = None
    if opened is not None:
        raise ValueError(f"{page}:{start - 1}: this block never ends")
    return found
