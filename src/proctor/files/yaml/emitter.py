"""Write plain data as YAML text that every version of YAML reads the same; ambiguous words are quoted."""

from __future__ import annotations

import re
from typing import Any

import yaml

from proctor.files.yaml.scalars import is_text

_WIDTH = 110
_OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029\ufeff\t]")


class Flow:
    """A list or an object that is written on one line."""

    def __init__(self, value: Any) -> None:
        self.value = value


def emit(value: Any) -> str:
    """Return the text of a document."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
    )
    return text


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper, which quotes words that YAML 1.1 does not read as text; this one also quotes those of YAML 1.2."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write no aliases."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002  (PyYAML calls it so)
        """Indent lists below their key."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style: str | None = None
    if _OTHER_BREAKS.search(text):
        style = '"'
    elif not is_text(text):
        style = "'"
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _flow(dumper: yaml.SafeDumper, flow: Flow) -> yaml.Node:
    if isinstance(flow.value, dict):
        return dumper.represent_mapping("tag:yaml.org,2002:map", flow.value, flow_style=True)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", flow.value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Flow, _flow)
