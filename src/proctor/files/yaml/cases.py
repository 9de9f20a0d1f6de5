"""Read the short YAML form as the same models as JSON (described in `docs/reference/yaml.md`).

A file in this form is converted to a tree with the keys of the format, in which every value keeps its position in the
file. A file with the keys of the format (`eval_cases`, `criteria` …) is the JSON document in YAML and is not converted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from proctor.files.eval_sets.documents import DocumentKind, ValuePositions, kind, problems_at, set_id_of
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Path_, Place, Problem, file_error
from proctor.files.text.validation_messages import findings_of_error
from proctor.files.yaml.nodes import (
    Fault,
    Map,
    Node,
    Seq,
    TreePlaces,
    Word,
    is_null,
    map_node,
    to_json,
)
from proctor.files.yaml.object_reader import (
    CASE_KEYS,
    EXPECTATION_KEYS,
    ONE_TURN_KEYS,
    SCENARIO_KEYS,
    SESSION_KEYS,
    SET_KEYS,
    SHORT_CASE_KEYS,
    SHORT_TURN_KEYS,
    Fields,
    kind_of_node,
    meant_key,
)
from proctor.files.yaml.parser import Tree, read_tree
from proctor.files.yaml.turns import TurnForm, content
from proctor.schema.format.case import EvalCase, EvalSet

_CASE_LISTS = ("cases", "eval_cases", "evalCases")
"""The keys that the list of cases may have."""


class YamlDocument:
    """A YAML file read whole (`proctor.files.eval_sets.documents.Document`)."""

    def __init__(self, name: str, root: Node, value: Any, tree: Tree) -> None:
        self.name = name
        self.value = value
        self.warnings: list[Problem] = []
        self.has_comments = tree.has_comments
        self.is_short_form = root is not tree.root
        """Whether the file has the short form, in which sets, cases and turns have unknown keys only under `extra`."""
        self._root, self._written = root, tree.root

    def written_case(self, index: int) -> Any:
        """Return a case of a set with the keys that the file has."""
        node = self._written
        if isinstance(node, Map):
            node = next((node.values[key] for key in _CASE_LISTS if key in node.values), node)
        return to_json(node.items[index] if isinstance(node, Seq) else node)

    def locate(self, paths: Iterable[Path_]) -> ValuePositions:
        """Return the positions of values; the tree contains all of them."""
        return TreePlaces(self._root)


def read_document(data: bytes, name: str) -> YamlDocument:
    """Read a YAML file of any kind; an eval set in the short form is converted to the keys of the format.

    Raises:
        EvalFileError: it is not YAML, uses YAML features that are not supported, or has invalid entries; with all problems.
    """
    with no_collection():
        return _read_document(data, name)


def _read_document(data: bytes, name: str) -> YamlDocument:
    tree = read_tree(data, name)
    reader = _Reader(tree)
    root = reader.root(tree.root)
    value = to_json(root, reader.refuse_scalar)
    document = YamlDocument(name, root, value, tree)
    problems = [*tree.problems, *reader.problems]
    if problems:
        raise file_error([*problems, *_other_problems(document, reader.bad_cases)])
    return document


def _other_problems(document: YamlDocument, bad: set[int]) -> list[Problem]:
    """Return the problems of cases that are valid in the short form, but not as cases of the format."""
    cases = document.value.get("eval_cases") if isinstance(document.value, dict) else None
    problems: list[Problem] = []
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if index in bad:
            continue
        try:
            EvalCase.model_validate(case)
        except ValidationError as error:
            problems += problems_at(document, findings_of_error(error, case, ("eval_cases", index)))
    return problems


class _Reader(TurnForm):
    """Reads sets and cases; the base classes read turns and calls."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.source)
        self.bad_cases: set[int] = set()

    def refuse_scalar(self, place: Place, path: Path_, fault: Fault) -> None:
        """Report a scalar without a value."""
        self.problem(place, path, fault.message, fault.hint)
        if path[:1] == ("eval_cases",) and isinstance(path[1], int):
            self.bad_cases.add(path[1])

    # --- kind of the document ---

    def root(self, node: Node) -> Node:
        """Return the document with the keys of the format."""
        if isinstance(node, Word):
            return node
        document_kind = kind(_outline(node))
        if isinstance(node, Seq):
            return self._set_of(node) if _is_short(node.items, document_kind) else node
        if document_kind in _OTHERS:
            return node
        if self._is_set(node):
            return self._set(node)
        if _is_short([node], document_kind):
            return self._set_of(Seq(node.place, [node]), whole=True)
        is_misspelled_set = any(meant_key(key, ("cases", "eval_set")) for key in node.values)
        return self._set(node) if document_kind is DocumentKind.UNKNOWN and is_misspelled_set else node

    def _is_set(self, node: Map) -> bool:
        """Whether an object is a set in the short form."""
        cases = next((node.values[key] for key in _CASE_LISTS if key in node.values), None)
        has_short_cases = isinstance(cases, Seq) and _has_short_form(cases.items)
        return "cases" in node.values or "eval_set" in node.values or has_short_cases

    def _set_of(self, cases: Seq, *, whole: bool = False) -> Map:
        result = map_node(cases.place, [("eval_set_id", self._file_id(cases))])
        result.put("eval_cases", self._cases(cases, (), whole=whole))
        return result

    def _file_id(self, node: Node) -> Word:
        return Word(node.place, set_id_of(self.source.name))

    def _set(self, node: Map) -> Map:
        before = len(self.problems)
        entries = self.fields(node, (), SET_KEYS, "an eval set")
        result = Map(node.place)
        for name in EvalSet.model_fields:
            if name in entries:
                key, value = entries[name]
                result.put(name, self._set_value(name, value, (key,)), node.keys.get(key))
            elif name == "eval_set_id":
                result.put(name, self._file_id(node))
        if "eval_cases" not in entries and len(self.problems) == before:
            self.problem(node.place, (), "`cases` is missing", "a set is a list of cases under `cases:`")
        self.add_extra(result, entries, (), EvalSet, ("id",))
        return result

    def _set_value(self, name: str, node: Node, path: Path_) -> Node:
        if name == "eval_set_id":
            return Word(node.place, self.text(node, path) or "")
        return self._cases(node, path) if name == "eval_cases" else node

    # --- cases ---

    def _cases(self, node: Node, path: Path_, *, whole: bool = False) -> Seq:
        items = self.items(node, path, "cases")
        cases: list[Map] = []
        for index, item in enumerate(items):
            before = len(self.problems)
            cases.append(self._case(item, path if whole else (*path, index)))
            if len(self.problems) > before:
                self.bad_cases.add(index)
        add_case_ids(cases)
        return Seq(node.place, list(cases))

    def _case(self, node: Node, path: Path_) -> Map:
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a case, got {kind_of_node(node)}", "a case is `- ask: …`"
            )
            return Map(node.place)
        before = len(self.problems)
        entries = self.fields(node, path, CASE_KEYS, "a case")
        result = Map(node.place)
        if "eval_id" in entries:
            key, value = entries["eval_id"]
            result.put("eval_id", Word(value.place, self.text(value, (*path, key)) or ""))
        self._conversation(result, entries, node, path, before)
        if "opening" in entries:
            key, value = entries["opening"]
            result.put("opening", self._opening(value, (*path, key)), node.keys.get(key))
        self._session(result, entries, path)
        for name in ("creation_timestamp", "rubrics", "final_session_state", "tags", *EXPECTATION_KEYS):
            if name in entries:
                key, value = entries[name]
                result.put(name, self._case_value(name, value, (*path, key)), node.keys.get(key))
        self.add_extra(result, entries, path, EvalCase, ("id",))
        return result

    def _case_value(self, name: str, node: Node, path: Path_) -> Node:
        if name == "rubrics":
            return self.rubrics(node, path)
        if name == "expectations":
            return self.expectations(node, path)
        if name == "trajectory_rules":
            return self.rules(node, path)
        if name == "tags":
            items = [node] if isinstance(node, Word) else self.items(node, path, "texts")
            texts = [(item, self.text(item, path)) for item in items]
            return Seq(node.place, [Word(item.place, text) for item, text in texts if text is not None])
        return node

    def _conversation(self, result: Map, entries: Fields, node: Map, path: Path_, before: int) -> None:
        """Add the turns, the only turn, or the scenario: exactly one of them is allowed."""
        one_turn = {name: entry for name, entry in entries.items() if name in ONE_TURN_KEYS.values()}
        scenario = _names_in(entries, SCENARIO_KEYS.values())
        long_forms = _names_in(entries, ("conversation", "conversation_scenario"))
        forms = [entries[name][0] for name in (*long_forms, *scenario[:1], *list(one_turn)[:1])]
        if len(forms) != 1:
            self._refuse_forms(forms, node, path, before)
        elif one_turn:
            complain = len(self.problems) == before
            result.put(
                "conversation",
                Seq(node.place, [self.invocation(one_turn, node.place, path, complain=complain)]),
            )
        elif scenario:
            result.put("conversation_scenario", self._scenario(entries, node, path))
        else:
            key, value = entries[long_forms[0]]
            is_turns = long_forms[0] == "conversation"
            result.put(
                long_forms[0], self._turns(value, (*path, key)) if is_turns else value, node.keys.get(key)
            )

    def _refuse_forms(self, forms: list[str], node: Map, path: Path_, before: int) -> None:
        if forms:
            message, hint = (
                f"`{forms[0]}` and `{forms[1]}` exclude each other",
                "a case has turns, or a single turn, or a scenario",
            )
            self.problem(node.keys[forms[1]], (*path, forms[1]), message, hint)
        elif len(self.problems) == before:  # otherwise a misspelled key is already reported
            self.problem(
                node.place, path, "no user message", "a case has `ask`, or `turns`, or `start` and `plan`"
            )

    def _turns(self, node: Node, path: Path_) -> Seq:
        items = self.items(node, path, "turns")
        return Seq(node.place, [self.turn(item, (*path, index)) for index, item in enumerate(items)])

    def _opening(self, node: Node, path: Path_) -> Node:
        """Return the recorded turns before a scenario; a text is a user message without expectations."""
        if is_null(node):
            return node
        items = self.items(node, path, "turns")
        return Seq(
            node.place,
            [
                map_node(item.place, [("user_content", content(item.text, item.place, "user"))])
                if isinstance(item, Word) and not is_null(item)
                else self.turn(item, (*path, index))
                for index, item in enumerate(items)
            ],
        )

    def _scenario(self, entries: Fields, node: Map, path: Path_) -> Map:
        for key, name in SCENARIO_KEYS.items():
            if name not in entries and key != "persona":
                hint = {
                    "start": "what does the user say first?",
                    "plan": "what does the user want, step by step?",
                }[key]
                self.problem(node.place, path, f"`{key}` is missing", hint)
        result = Map(node.place)
        for name in SCENARIO_KEYS.values():
            if name in entries:
                key, value = entries[name]
                text = None if name == "user_persona" else self.text(value, (*path, key))
                result.put(name, value if text is None else Word(value.place, text), node.keys.get(key))
        return result

    def _session(self, result: Map, entries: Fields, path: Path_) -> None:
        short = [name for name in SESSION_KEYS.values() if name in entries]
        if "session_input" in entries:
            result.put("session_input", self.whole(entries, "session_input", short, "that", path))
        elif short:
            result.put("session_input", self._session_input(entries, short, path))

    def _session_input(self, entries: Fields, short: list[str], path: Path_) -> Map:
        place = entries[short[0]][1].place
        result = Map(place)
        for name in SESSION_KEYS.values():
            key, node = entries.get(name, ("", Word(place, "")))
            if name == "state" and key:
                if not isinstance(node, Map):
                    self.problem(
                        node.place,
                        (*path, key),
                        f"expected an object, got {kind_of_node(node)}",
                        "as in `state: {city: Paris}`",
                    )
                result.put(name, node)
            elif key:
                result.put(name, Word(node.place, self.text(node, (*path, key)) or ""))
            elif name in {"app_name", "user_id"}:  # required by the format; empty means the default
                result.put(name, node)
        return result


_OTHERS = (DocumentKind.CONFIG, DocumentKind.SCENARIOS, DocumentKind.SESSION_INPUT, DocumentKind.RESULT)


def _names_in(entries: Fields, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in entries]


def _outline(node: Node) -> Any:
    """Return the part of a document that decides its kind: its keys, or those of its elements."""
    if isinstance(node, Map):
        return dict.fromkeys(node.values)
    return [_outline(item) for item in node.items] if isinstance(node, Seq) else None


def _is_misspelled_case(node: Node) -> bool:
    """Whether an object of an unknown kind is a case with misspelled keys."""
    return isinstance(node, Map) and any(meant_key(key, ("ask", "turns")) for key in node.values)


def _has_short_form(cases: Iterable[Node]) -> bool:
    """Whether one of the cases has the short form."""
    for case in cases:
        if not isinstance(case, Map):
            continue
        if not SHORT_CASE_KEYS.isdisjoint(case.values):
            return True
        turns = case.values.get("conversation")
        inner = turns.items if isinstance(turns, Seq) else []
        if any(isinstance(turn, Map) and not SHORT_TURN_KEYS.isdisjoint(turn.values) for turn in inner):
            return True
    return False


# --- ids of cases ------------------------------------------------------------------------------------------------------

_LONGEST_ID = 48


def add_case_ids(cases: list[Map]) -> None:
    """Give each case without an id one that is derived from its first message, so that it does not depend on other cases."""
    used = {node.text for case in cases if isinstance(node := case.values.get("eval_id"), Word)}
    for case in cases:
        if "eval_id" in case.values:
            continue
        base = id_from(_first_text(case))
        name, number = base, 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        rest = list(case.values.items())
        case.values.clear()
        case.put("eval_id", Word(case.place, name))
        case.values.update(rest)


def id_from(text: str) -> str:
    """Return an id for a text: its first words, or its hash if it has no letters or digits."""
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


def _is_short(items: list[Node], document_kind: DocumentKind) -> bool:
    """Whether some items are cases in the short form, well or badly spelled."""
    return _has_short_form(items) or (
        document_kind is DocumentKind.UNKNOWN and any(map(_is_misspelled_case, items))
    )
