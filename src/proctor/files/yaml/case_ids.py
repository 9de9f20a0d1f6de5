"""Ids of cases that state none: made from what is asked first, so that they stay when other cases come and go."""

from __future__ import annotations

import hashlib
import re

from proctor.files.yaml.nodes import Map, Node, Seq, Word, text_node

_LONGEST_ID = 48


def name_cases(cases: list[Map]) -> None:
    """Give an id to each case without one: from what is asked first, so that it stays when cases come and go."""
    taken = {node.text for case in cases if isinstance(node := case.values.get("eval_id"), Word)}
    for case in cases:
        if "eval_id" in case.values:
            continue
        base = id_from(_first_text(case))
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        rest = list(case.values.items())
        case.values.clear()
        case.put("eval_id", text_node(name, case.place))
        case.values.update(rest)


def id_from(text: str) -> str:
    """An id made from a text: its first words; for a text without letters and digits its hash."""
    words = re.findall(r"\w+", re.sub(r"['’]", "", text.lower()))
    name = ""
    for word in words:
        if len(name) + len(word) >= _LONGEST_ID:
            break
        name += f"_{word}" if name else word
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return name or f"case_{digest}"


def _first_text(case: Map) -> str:
    scenario, turns = case.values.get("conversation_scenario"), case.values.get("conversation")
    if isinstance(scenario, Map):
        return _text(scenario.values.get("starting_prompt"))
    first = turns.items[0] if isinstance(turns, Seq) and turns.items else None
    content = first.values.get("user_content") if isinstance(first, Map) else None
    parts = content.values.get("parts") if isinstance(content, Map) else None
    texts = [
        _text(part.values.get("text"))
        for part in (parts.items if isinstance(parts, Seq) else [])
        if isinstance(part, Map)
    ]
    return " ".join(filter(None, texts))


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Word) else ""
