"""The nodes of a YAML text, with their positions, for edits in place."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import yaml


def compose(text: str) -> yaml.Node | None:
    """Return the nodes of a text; by libyaml, which is ten times as fast, unless its positions would differ."""
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None and not text.startswith("\ufeff"):
        with contextlib.suppress(yaml.YAMLError):
            return yaml.compose(text, Loader=fast)
    return yaml.compose(text, Loader=yaml.SafeLoader)


def is_in_brackets(node: yaml.Node) -> bool:
    """Whether a list or an object is written in brackets."""
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def entry_keys(node: yaml.Node) -> list[str]:
    """Return the keys of an object in their order; none if the node is not an object."""
    return [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []


def shared_nodes(root: yaml.Node) -> set[yaml.Node]:
    """Return the values that an alias repeats, with everything inside them."""
    earlier: set[yaml.Node] = set()
    shared: set[yaml.Node] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in earlier:
            shared.update(_descendants(node))
            continue
        earlier.add(node)
        pending += children(node)
    return shared


def _descendants(node: yaml.Node) -> Iterator[yaml.Node]:
    yield node
    for child in children(node):
        yield from _descendants(child)


def children(node: yaml.Node) -> list[yaml.Node]:
    """Return the nodes directly inside a node, keys too."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
