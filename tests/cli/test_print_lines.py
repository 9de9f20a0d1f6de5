"""Lists of commands: unchanged in a file or pipe, wrapped below their last column on a terminal."""

import io

import pytest

from proctor.cli.print_lines import print_lines

LINE = "ok  order  a turn ends with its final response and with nothing after it"
WRAPPED = """\
ok  order  a turn ends with its final
           response and with nothing
           after it
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "expected"),
    [pytest.param(io.StringIO(), f"{LINE}\n", id="pipe"), pytest.param(Terminal(), WRAPPED, id="terminal")],
)
def test_only_a_terminal_wraps_long_lines(
    out: io.StringIO, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    print_lines([LINE], out)

    assert out.getvalue() == expected
