"""Docstrings as Markdown that a code host shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):$")
_ENTRY = re.compile(r"^    (?P<name>[\w*, ]+): (?P<text>.*)$")
_CODE = re.compile(r"(`[^`]*`)")


def cell(text: str) -> str:
    """Return a text as a cell of a table: one line, without column marks."""
    return escape(" ".join(text.split())).replace("|", "\\|")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, without the columns that are empty in every row."""
    used = [index for index in range(len(head)) if any(row[index] for row in rows)]
    lines = [[head[index] for index in used], ["---"] * len(used)]
    lines += [[cell(row[index]) for index in used] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def escape(text: str) -> str:
    """Replace what Markdown would read as a tag, outside of code."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    found = re.match(r".*?[.!?](?=\s|$)", paragraph)
    return found[0] if found else paragraph


def markdown(text: str, links: Mapping[str, str]) -> str:
    """Return a docstring as Markdown: sections as lists, indented lines as code, class names as links."""
    lines = list(_sections(text.splitlines()))
    parts = []
    for is_code, block in groupby(lines, key=lambda line: line.startswith("\0")):
        joined = "\n".join(block)
        parts.append(_fence(joined) if is_code else _linked(escape(joined), links))
    return "\n".join(parts).strip() + "\n"


def _fence(lines: str) -> str:
    text = lines.replace("\0", "").rstrip()
    return f"```{'text' if '─' in text else 'python no-run: a part'}\n{text}\n```"


def _linked(text: str, links: Mapping[str, str]) -> str:
    def link(match: re.Match[str]) -> str:
        target = links.get(match[1])
        return f"[{match[0]}]({target})" if target else match[0]

    return re.sub(r"`([A-Z]\w+)`", link, text)


def _sections(lines: list[str]) -> Iterator[str]:
    """Yield the lines; those of code begin with a null character."""
    section, in_list = "", False
    for line in lines:
        heading = _SECTION.match(line)
        if heading:
            section = heading[1]
            yield f"**{'Arguments' if section == 'Args' else section}**"
            yield ""
        elif section and line.startswith("    "):
            yield _section_line(section, line)
        elif line.startswith("    ") and not in_list:
            yield f"\0{line[4:]}"
        else:
            section = section if not line else ""
            in_list = (in_list and (not line or line.startswith(" "))) or line.startswith("* ")
            yield line


def _section_line(section: str, line: str) -> str:
    entry = _ENTRY.match(line)
    if section in {"Returns", "Yields"}:
        return line.strip()
    if entry is None:
        return f"  {line.strip()}"
    names = ", ".join(f"`{name.strip()}`" for name in entry["name"].split(","))
    return f"* {names}: {entry['text']}"
