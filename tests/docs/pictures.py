"""The picture of a failure on the terminal, docs/pictures/failure.svg. Run as a script, this draws it from the real output."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import unescape
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "failure.svg"
COMMAND = ["eval", "examples/travel/flawed.py", "examples/travel/bookings.evalset.json:two_turn_booking"]
COLUMNS = 104

# A monospaced font of the reader's system: the picture loads nothing.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A failing case in the terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
_THEME = TerminalTheme(
    (255, 255, 255),
    (31, 35, 40),
    [
        (36, 41, 47), (207, 34, 46), (17, 99, 41), (119, 80, 0),
        (9, 105, 218), (130, 80, 223), (27, 124, 131), (110, 119, 129),
    ],
)  # fmt: skip  # a table of eight colours


def failure_output() -> str:
    """What `proctor eval` writes on a terminal for a flawed agent, without its progress bar, in ANSI."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if name not in {"CI", "NO_COLOR", "GITHUB_ACTIONS"}
        },
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", *COMMAND],
        cwd=ROOT,
        env=environment,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    output = b""
    try:
        while block := os.read(main, 65536):
            output += block
    except OSError:  # Linux ends a closed terminal with an error, not with an empty read
        pass
    os.close(main)
    if process.wait() != 1:
        raise RuntimeError(f"proctor {' '.join(COMMAND)}: exit code {process.returncode}")
    return output.decode().replace("\r\n", "\n").strip("\n")


def draw() -> str:
    """The picture as SVG: the command, and what it writes."""
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text(f"$ proctor {' '.join(COMMAND)}", style="bold"), overflow="fold")
    console.print()
    console.print(Text.from_ansi(failure_output()))
    return console.export_svg(title="", theme=_THEME, code_format=_SVG, unique_id="failure")


def text_of(svg: str) -> str:
    """The words of the picture, without what differs from run to run: seconds and the run's id."""
    words = " ".join(
        unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    )
    words = re.sub(r"\s*·\s+\d+(\.\d+)? m?s a turn", " a turn", words)  # a fast machine has none
    words = re.sub(r"\d+(\.\d+)?m?s\b", "SECONDS", words)
    words = re.sub(r"\b(run|show) [a-z0-9]{10}\b", r"\1 ID", words)
    return " ".join(words.split())


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
