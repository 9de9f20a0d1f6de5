"""Tool calls as text: `book_table(restaurant=La Trattoria, covers=2, days=[mon, tue], guest={name: Ada})`.

Values follow YAML: unquoted words are null, true, false, numbers or else text; quoted ones are text. An unquoted text ends
at a comma or at a closing bracket without an opening one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from proctor.common.json_values import Json, JsonObject
from proctor.files.text.json_scanner import MAX_DEPTH
from proctor.files.text.problems import quote
from proctor.files.yaml.nodes import Fault, is_text, resolve

NAME = re.compile(r"[^\s()\[\]{}=,\"'#:](?:[^\s()\[\]{}=,\"'#]*[^\s()\[\]{}=,\"'#:])?")
"""Names of tools whose calls can be written as text."""

_GAP = re.compile(r"\s*")
_KEY = re.compile(r"[^\s()\[\]{}=,:\"'](?:[^()\[\]{}=,:\"'\n]*[^\s()\[\]{}=,:\"'])?")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_PLAIN_WORD = re.compile(
    r"[^\s()\[\]{},:=\"'](?:(?:[^()\[\]{},:=\"'\n\r\t]|:(?=[^\s:]))*[^\s()\[\]{},:=\"'])?"
)
_ARGUMENT = re.compile(r"\s(?=(\w+=))")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_PYTHON_WORDS = frozenset({"None", "NaN", "Infinity", "-Infinity"})
"""Words with a meaning in Python, where calls look the same; as texts they would be mistakes that are easy to miss."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class CallError(ValueError):
    """A text that is not a tool call; `offset` is the position of the error in it."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset, self.message, self.hint = offset, message, hint


def parse_call(text: str) -> tuple[str, JsonObject]:
    """Return the name and the arguments of a call.

    Raises:
        CallError: the text is not a call.
    """
    return _Parser(text).call()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._depth = 0

    def call(self) -> tuple[str, JsonObject]:
        self._skip_gap()
        name = NAME.match(self.text, self.at)
        if name is None:
            raise CallError(
                self.at, f"expected a tool's name, got {self._got()}", "a call is `name(argument=value)`"
            )
        self.at = name.end()
        self._skip_gap()
        if self._char() != "(":
            is_name_only = self.text.strip() == name[0]
            hint = (
                f"a call without arguments is `{name[0]}()`"
                if is_name_only
                else "a call is `name(argument=value)`"
            )
            message = f"expected `(` after `{quote(name[0], 40)[1:-1]}`, {self._got_or_end()}"
            raise CallError(self.at, message, hint)
        arguments = self._pairs("(", "=", self._argument_name)
        self._skip_gap()
        if self.at < len(self.text):
            raise CallError(
                self.at, f"text after the call: {self._got()}", "write one call; put texts with `)` in quotes"
            )
        return name[0], arguments

    # --- pieces ---

    def _pairs(self, bracket: str, sign: str, key: Callable[[], str]) -> JsonObject:
        pairs: JsonObject = {}
        opened = self.at
        self.at += 1
        while not self._closes(bracket, opened):
            start = self.at
            name = key()
            self._skip_gap()
            if self._char() != sign:
                raise self._no_sign(start, name, sign)
            self.at += 1
            if name in pairs:
                raise CallError(start, f"`{quote(name, 40)[1:-1]}` appears twice", "remove one")
            pairs[name] = self._value(f"`{quote(name, 40)[1:-1]}{sign}`")
            self._comma(bracket)
        return pairs

    def _list(self) -> list[Json]:
        items: list[Json] = []
        opened = self.at
        self.at += 1
        while not self._closes("[", opened):
            items.append(self._value("`,`" if items else "`[`"))
            self._comma("[")
        return items

    def _closes(self, bracket: str, opened: int) -> bool:
        self._skip_gap()
        if self.at >= len(self.text):
            hint = "does a ` #` before it start a comment, or does YAML split the list at a comma? Put the call in quotes"
            raise CallError(self.at, f"the `{bracket}` at character {opened + 1} is not closed", hint)
        if self._char() == _CLOSING[bracket]:
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> None:
        self._skip_gap()
        if self._char() == ",":
            self.at += 1
        elif self.at < len(self.text) and self._char() != _CLOSING[bracket]:
            raise CallError(
                self.at,
                f"expected `,` or `{_CLOSING[bracket]}`, got {self._got()}",
                "put the whole text in quotes",
            )

    def _argument_name(self) -> str:
        return self._key("an argument's name", "as in `city=Paris`")

    def _object_key(self) -> str:
        return self._key("a key", "as in `{name: Ada}`")

    def _key(self, what: str, example: str) -> str:
        if self._char() in {'"', "'"}:
            return self._quoted_text()
        match = _KEY.match(self.text, self.at)
        if match is None:
            raise CallError(self.at, f"expected {what}, got {self._got()}", example)
        self.at = match.end()
        return match[0]

    def _no_sign(self, start: int, name: str, sign: str) -> CallError:
        before = self.text[:start].rstrip()
        if sign == "=" and before.endswith(","):
            hint = "is it part of the text before the comma? Put that text in quotes"
        else:
            hint = "arguments are given by name, as in `city=Paris`" if sign == "=" else "as in `{name: Ada}`"
        return CallError(start, f"expected `{sign}` after {quote(name, 40)}, {self._got_or_end()}", hint)

    def _value(self, after: str) -> Json:
        self._skip_gap()
        char = self._char()
        if char in {'"', "'"}:
            return self._quoted_text()
        if char in {"[", "{"}:
            self._depth += 1
            if self._depth > MAX_DEPTH // 2:
                raise CallError(self.at, f"nested deeper than {MAX_DEPTH // 2} levels")
            value = self._list() if char == "[" else self._pairs("{", ":", self._object_key)
            self._depth -= 1
            return value
        return self._unquoted_value(after)

    def _unquoted_value(self, after: str) -> Json:
        start = self.at
        word = self._unquoted_word()
        if not word and self.at >= len(self.text):
            hint = "does a ` #` start a comment here? Put the call in quotes"
            raise CallError(start, f"the text ends after {after}", hint)
        if not word:
            raise CallError(start, f"no value after {after}", 'an empty text is `""`, a null is `null`')
        if argument := _ARGUMENT.search(self.text, start, self.at):
            hint = "or is it all one text? Then put it in quotes"
            raise CallError(
                argument.end(), f"is a comma missing before `{quote(argument[1], 40)[1:-1]}`?", hint
            )
        if word in _PYTHON_WORDS:
            reason = "a null is `null`" if word == "None" else "JSON has no such number"
            raise CallError(start, f"is `{word}` a text? {reason}", f'the text is `"{word}"`')
        value = resolve(word)
        if isinstance(value, Fault):
            raise CallError(start, value.message, value.hint)
        return value

    def _unquoted_word(self) -> str:
        """Return the text up to the next comma or unbalanced closing bracket, on one line."""
        start, open_brackets = self.at, 0
        while self.at < len(self.text):
            char = self._char()
            if char == "(":
                open_brackets += 1
            elif char == ")" and open_brackets:
                open_brackets -= 1
            elif char in ",)]}" and not open_brackets:
                break
            self.at += 1
        return re.sub(r"\s*\n\s*", " ", self.text[start : self.at].strip())

    def _quoted_text(self) -> str:
        start = self.at
        match = (_DOUBLE if self._char() == '"' else _SINGLE).match(self.text, start)
        if match is None:
            raise CallError(start, f"the quote before {quote(self.text[start + 1 :], 30)} is never closed")
        self.at = match.end()
        if match[0][0] == "'":
            return match[0][1:-1].replace("''", "'")
        try:
            text: str = json.loads(match[0], strict=False)
        except ValueError:
            raise CallError(
                start, f"{quote(match[0], 40)} has an escape that JSON does not have", "a backslash is `\\\\`"
            ) from None
        if "\0" in text or _LONE_SURROGATE.search(text):
            raise CallError(start, "a text contains NUL or a lone surrogate", "remove it")
        return text

    # --- position ---

    def _skip_gap(self) -> None:
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at

    def _char(self) -> str:
        return self.text[self.at : self.at + 1]

    def _got(self) -> str:
        return quote(self.text[self.at :], 30) if self.at < len(self.text) else "nothing"

    def _got_or_end(self) -> str:
        return f"got {self._got()}" if self.at < len(self.text) else "but the text ends here"


# --- writing -----------------------------------------------------------------------------------------------------------


def write_call(name: str, arguments: dict[str, object]) -> str | None:
    """Return the text of a call; `None` if text cannot represent it (a name with spaces, deeply nested arguments)."""
    if not NAME.fullmatch(name) or _depth(arguments) > MAX_DEPTH // 2:
        return None
    return f"{name}({', '.join(f'{_key(key)}={_value(value)}' for key, value in arguments.items())})"


def _depth(value: object) -> int:
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key == key.strip() and key.isprintable() else _quote(key)


def _value(value: object) -> str:
    if isinstance(value, str):
        plain = _PLAIN_WORD.fullmatch(value) and value.isprintable() and is_text(value)
        plain = plain and value not in _PYTHON_WORDS
        return value if plain else _quote(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)}: {_value(item)}' for key, item in value.items())}}}"
    return json.dumps(value)


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if text.isprintable() else json.dumps(text)
