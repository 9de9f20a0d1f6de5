"""The `--help` of every command, as docs/help/*.txt keeps it. Run as a script, this rewrites them."""

from pathlib import Path

from click.testing import CliRunner

from proctor.cli.main import SECTIONS, cli

HELP = Path(__file__).resolve().parents[2] / "docs" / "help"


def help_text(*command: str) -> str:
    """What `proctor COMMAND --help` prints off a terminal, 100 columns wide."""
    done = CliRunner().invoke(cli, [*command, "--help"], prog_name="proctor", terminal_width=98)
    if done.exit_code:
        raise RuntimeError(f"proctor {' '.join(command)} --help: {done.output}") from done.exception
    return done.stdout


def commands(text: str) -> list[str]:
    """The commands that a group's help lists."""
    sections = (text.partition(f"\n{title}:\n")[2].partition("\n\n")[0] for title in ["Commands", *SECTIONS])
    lines = (line for section in sections for line in section.splitlines())
    return [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]


def help_pages() -> dict[str, str]:
    """The text of every page, by its file name."""
    pages = {}
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        command = waiting.pop()
        text = help_text(*command)
        pages["-".join(["proctor", *command]) + ".txt"] = text
        waiting += [(*command, name) for name in commands(text)]
    return pages


def rewrite() -> None:
    """Makes docs/help/ what the commands print now."""
    HELP.mkdir(parents=True, exist_ok=True)
    pages = help_pages()
    for old in HELP.glob("*.txt"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (HELP / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
