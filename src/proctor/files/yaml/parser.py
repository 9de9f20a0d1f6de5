"""Parse YAML text to a tree with positions: the part of YAML that JSON can represent, without ambiguous features.

Refused, with a position: tags, keys that are not text, duplicate keys, merge keys, aliases that repeat too much, several
documents, nesting beyond 200 levels. The parser reads the events of PyYAML and uses none of its loaders; it explains syntax errors.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NoReturn

import yaml

from proctor.files.text.json_decode import decode
from proctor.files.text.json_scanner import MAX_DEPTH
from proctor.files.text.problems import Place, Problem, SourceText, file_error, quote
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_text

MAX_REPEATED = 100_000
"""The limit on what all aliases of a file repeat, in values (a long text counts as several)."""

MAX_VALUES = 1_000_000
"""The most values that are read whole; each takes some hundred bytes of memory."""

_TEXT_PER_WEIGHT = 32
_LARGE = 1 << 20  # bytes; larger texts are not parsed a second time for a better message
_MODELINE = re.compile(r"#\s*yaml-language-server:")
_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Tree:
    """A text that was parsed as YAML. `problems`: what is refused in it; the tree is valid if there are none."""

    source: SourceText
    root: Node
    has_comments: bool
    problems: list[Problem]


def read_tree(data: bytes, name: str) -> Tree:
    """Read the only document of a YAML text.

    Raises:
        EvalFileError: the bytes are not UTF-8, the text is not YAML, or it is empty.
    """
    source = SourceText(name, decode(data, name))
    if problems := _odd_breaks(source):
        raise file_error(problems)
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is None:
        return _build(source, yaml.SafeLoader, explain=True)
    if len(data) > _LARGE:
        return _build(source, fast, explain=True)
    with contextlib.suppress(yaml.YAMLError):
        return _build(source, fast)
    # slow, but its messages are better; and it joins the two escapes of a surrogate pair
    return _build(source, yaml.SafeLoader, explain=True)


def is_parsable(text: str) -> bool:
    """Whether libyaml parses a text; false without libyaml. This is much faster than to read its values."""
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is None:
        return False
    parser = fast(text)
    try:
        parser.raw_parse()
    except yaml.YAMLError:
        return False
    finally:
        parser.dispose()
    return True


def _odd_breaks(source: SourceText) -> list[Problem]:
    """Report characters that end a line only for some YAML readers."""
    if source.text.isascii():
        return []
    return [
        source.problem(
            match.start(),
            f"U+{ord(match[0]):04X} ends a line for some readers of YAML",
            f'in double quotes it is written "\\u{ord(match[0]):04x}"',
        )
        for match in islice(_ODD_BREAKS.finditer(source.text), 20)
    ]


def _build(source: SourceText, loader: Any, *, explain: bool = False) -> Tree:
    builder = _Builder(source)
    try:
        for event in yaml.parse(source.text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as error:
        if explain:
            raise file_error([*builder.problems, syntax_problem(source, error)]) from None
        raise
    if builder.root is None:
        raise file_error([*builder.problems, source.problem(0, "the file is empty", "a set has `cases`")])
    return Tree(source, builder.root, _has_comments(source.text, builder.spans), builder.problems)


def _has_comments(text: str, scalars: list[tuple[int, int]]) -> bool:
    """Whether there are comments, except for the line that names the schema for an editor."""
    starts = [start for start, _ in scalars]
    at = text.find("#")
    while at >= 0:
        before = bisect_right(starts, at) - 1
        start, end = scalars[before] if before >= 0 else (0, 0)
        in_header = text[start] in "|>" and "\n" not in text[start:at]  # `key: | # comment`
        if at < end and not in_header:
            at = text.find("#", end)
        elif _MODELINE.match(text, at):
            line_end = text.find("\n", at)
            at = text.find("#", line_end) if line_end >= 0 else -1
        else:
            return True
    return False


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read."""

    node: Seq | Map
    anchor: str | None
    is_key: bool = False
    key: str | None = None
    key_place: Place = field(default_factory=lambda: Place(1, 1))


class _Builder:
    """Builds the tree from the parser's events, without recursion."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._repeated = 0
        self._documents = 0
        self._count = 0
        self.spans: list[tuple[int, int]] = []  # of scalars, in which `#` does not start a comment

    def take(self, event: Any) -> None:
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, place)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event, place)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event, place)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(
                    place, "a second document starts here", "a file contains one; put the cases in one list"
                )

    # --- values ---

    def _scalar(self, event: Any, place: Place) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        self.spans.append((start, end))
        self._refuse_tag(event, place)
        text = event.value
        if event.style == '"' and (surrogate := _SURROGATE.search(text)):
            text = self._join_surrogates(text, place, surrogate[0])
        if "\0" in text:
            self._error(place, "a text contains NUL (`\\0`)", "remove it")
        word = Word(place, text, not event.style, start, end, 1 + len(text) // _TEXT_PER_WEIGHT)
        self._anchor(event.anchor, word, place)
        if self._wants_key():
            self._key(word)
        else:
            self._add(word)

    def _open(self, event: Any, place: Place) -> None:
        if len(self._stack) == MAX_DEPTH:
            self._stop(place, f"nested deeper than {MAX_DEPTH} levels", "no eval file is; was it generated?")
        self._refuse_tag(event, place)
        node: Seq | Map = Map(place) if isinstance(event, yaml.MappingStartEvent) else Seq(place)
        is_key = self._wants_key()
        if is_key:
            kind = "an object" if isinstance(node, Map) else "a list"
            self._error(
                place, f"{kind} as a key; keys are text", "a text that starts with `{` or `[` goes in quotes"
            )
        if event.anchor and event.anchor in self._anchors:
            self._error(place, f"the anchor `&{event.anchor}` appears twice", "rename one")
        self._stack.append(_Open(node, event.anchor, is_key))

    def _close(self) -> None:
        closed = self._stack.pop()
        node = closed.node
        inner = node.items if isinstance(node, Seq) else node.values.values()
        node.weight += sum(item.weight for item in inner)
        if closed.anchor:
            self._anchors[closed.anchor] = node
        if closed.is_key:
            self._stack[-1].key, self._stack[-1].key_place = "", node.place
        else:
            self._add(node)

    def _alias(self, event: Any, place: Place) -> None:
        name = event.anchor
        if any(opened.anchor == name for opened in self._stack):
            self._stop(
                place,
                f"`*{name}` is inside the value that it repeats",
                "an alias repeats a finished value",
            )
        node = self._anchors.get(name)
        if node is None:
            message = f"`*{name}` repeats nothing: no `&{name}` precedes it"
            self._stop(place, message, "a text that starts with `*` goes in quotes")
        if self._wants_key():
            self._error(place, "an alias as a key", "write the key out")
            self._stack[-1].key, self._stack[-1].key_place = "", place
            return
        self._repeated += node.weight
        if self._repeated > MAX_REPEATED:
            self._stop(
                place,
                f"the aliases of this file repeat more than {MAX_REPEATED} values",
                "write them out, or fewer",
            )
        self._add(node)

    def _add(self, node: Node) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            self._stop(
                node.place, f"the file has more than {MAX_VALUES:,} values", "as JSON it can be larger"
            )
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        if isinstance(top.node, Seq):
            top.node.items.append(node)
        else:
            top.node.put(top.key or "", node, top.key_place)
            top.key = None

    # --- keys ---

    def _wants_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].node, Map) and self._stack[-1].key is None

    def _key(self, word: Word) -> None:
        top = self._stack[-1]
        top.key, top.key_place = word.text, word.place
        if word.plain and word.text == "<<":
            self._error(
                word.place,
                "merge keys (`<<`) are not read",
                "write the keys out; an alias can be a value",
            )
        elif word.plain and not is_text(word.text):
            what = f"`{quote(word.text, 30)[1:-1]}`" if word.text else "nothing"
            self._error(
                word.place, f"{what} as a key, which is not text", f'write it in quotes: "{word.text[:30]}"'
            )
        elif isinstance(top.node, Map) and word.text in top.node.keys:
            first = top.node.keys[word.text]
            message = (
                f"the key `{quote(word.text, 40)[1:-1]}` appears twice; first at {first.line}:{first.column}"
            )
            self._error(word.place, message, "other readers would silently use the last one; remove one")

    # --- refused features ---

    def _refuse_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None:
            self._error(
                place,
                f"the tag {quote(event.tag, 40)} is not read",
                "remove it; a text that starts with `!` goes in quotes",
            )

    def _anchor(self, name: str | None, node: Node, place: Place) -> None:
        if name and name in self._anchors:
            self._error(place, f"the anchor `&{name}` appears twice", "rename one")
        if name:
            self._anchors[name] = node

    def _join_surrogates(self, text: str, place: Place, half: str) -> str:
        """Join surrogate pairs that were escaped one by one, as JSON does; a lone surrogate is refused."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            escape = f"\\u{ord(half):04x}"
            self._error(
                place, f"{escape} is half a character (a lone surrogate)", "write the whole character"
            )
            return _SURROGATE.sub("\ufffd", text)

    def _error(self, place: Place, message: str, hint: str = "") -> None:
        self.problems.append(Problem("error", self.source.name, *place, "", message, hint))

    def _stop(self, place: Place, message: str, hint: str) -> NoReturn:
        self._error(place, message, hint)
        raise file_error(self.problems)


# --- syntax errors, with hints ----------------------------------------------------------------------------------------


_QUOTE = "put texts with `: `, ` #`, or brackets or quotes at their start, in quotes"

# The parser's message -> our message and hint. The first match counts.
_MESSAGES: tuple[tuple[str, str, str], ...] = (
    (r"'\\t' that cannot start", "a tab, where YAML takes only spaces", "indent with spaces"),
    (
        "mapping values are not allowed",
        "a `: ` where no key can be",
        f"{_QUOTE}; or is the line indented too far?",
    ),
    ("could not find expected ':'", "expected `key: value`", "is the `:` and a space missing, or a quote?"),
    ("unexpected end of stream", "the quote that is opened here is never closed", "close it"),
    ("unexpected document separator", "the quote that is opened here is not closed before `---`", "close it"),
    (
        "expected <block end>, but found|did not find expected '-' indicator|did not find expected key",
        "this does not belong here",
        f"entries of one list or object start in one column; {_QUOTE}",
    ),
    (
        r"expected ',' or '\]'",
        "expected `,` or `]` in this list",
        "put texts with commas or brackets in quotes",
    ),
    (
        r"expected ',' or '\}'",
        "expected `,` or `}` in this object",
        "put texts with commas or brackets in quotes",
    ),
    ("that cannot start any token", "a text cannot start with this character", "put the text in quotes"),
    (
        "(special|control) characters are not allowed",
        "a control character",
        "remove it, or write it as an escape in double quotes",
    ),
    (
        "sequence entries are not allowed",
        "a list item (`- `) where none can be",
        "put the list on separate lines",
    ),
    (
        "found unknown escape character",
        "an escape that YAML does not have",
        "a backslash in double quotes is written `\\\\`",
    ),
    ("escape sequence of", "an escape with too few digits", "as in `\\u00e9`"),
    ("expected the node content", "a value is missing here", ""),
    ("expected alphabetic or numeric character", "a name is missing after `&` or `*`", _QUOTE),
    (
        "unexpected character after",
        "a text starts with `|` or `>`",
        "they start a text of several lines; else use quotes",
    ),
    (
        "expected chomping or indentation",
        "a text starts with `|` or `>`",
        "they start a text of several lines; else use quotes",
    ),
    (
        "expected '<document start>'",
        "text after the end of the document",
        "is it indented less than what is before it?",
    ),
    ("incompatible YAML document", "a version of YAML that is not known", "remove the `%YAML` line"),
    (
        "undefined tag handle",
        "a tag, which is not read",
        "remove it; a text that starts with `!` goes in quotes",
    ),
)


def syntax_problem(source: SourceText, error: object) -> Problem:
    """Return the problem for an error of PyYAML's parser."""
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    place, offset = _place(source, error)
    message, hint = _message_and_hint(reason)
    context = getattr(error, "context_mark", None)
    if "quote that is opened here" in message and context is not None:
        place = Place(context.line + 1, context.column + 1)
    elif offset < len(source.text) and (near := source.text[offset : offset + 60].split("\n", 1)[0].strip()):
        message = f"{message}, at {quote(near, 30)}"
        if message.startswith("expected `,`") and context is not None:
            message += f"; it is opened at {context.line + 1}:{context.column + 1}"
    return Problem("error", source.name, *place, "", message, hint)


def _message_and_hint(reason: str) -> tuple[str, str]:
    for pattern, message, hint in _MESSAGES:
        if re.search(pattern, reason):
            return message, hint
    return f"not readable as YAML: {reason}", ""


def _place(source: SourceText, error: object) -> tuple[Place, int]:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return Place(mark.line + 1, mark.column + 1), mark.index
    position = getattr(error, "position", 0)  # of a character that YAML forbids
    return source.place(position), position
