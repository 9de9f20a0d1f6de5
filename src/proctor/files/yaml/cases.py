"""The YAML form that people write: read as the same models as JSON (`docs/yaml.md` describes it).

A file in this form becomes a tree in the words of the format, in which every value keeps the place that it comes from. A
file that has the format's own keys (`eval_cases`, `criteria` …) is that JSON document in YAML's notation, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from proctor.files.eval_sets.detect_format import Kind, kind, set_id_of
from proctor.files.eval_sets.documents import Located, problems_at
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Path_, Place, Problem, file_error
from proctor.files.text.validation_messages import explain
from proctor.files.yaml.case_ids import name_cases
from proctor.files.yaml.keys import (
    CASE_KEYS,
    EXPECTATION_KEYS,
    ONE_TURN_KEYS,
    SCENARIO_KEYS,
    SESSION_KEYS,
    SET_KEYS,
    SHORT_CASE_KEYS,
    SHORT_TURN_KEYS,
    meant_key,
)
from proctor.files.yaml.nodes import Map, Node, Seq, TreePlaces, Word, is_null, map_node, text_node, to_json
from proctor.files.yaml.object_reader import Fields, kind_of_node
from proctor.files.yaml.parser import Tree, read_tree
from proctor.files.yaml.scalars import Fault
from proctor.files.yaml.turns import TurnForm, content
from proctor.schema.format.case import EvalCase
from proctor.schema.format.eval_set import EvalSet

_LISTS = ("calls", "forbidden", "limits", "any_of", "any_order", "in_order")
_CALLS = ("never", "call", "only_after", "implies_later", "no", "before")


class ExpectationForm(TurnForm):
    """Reads the keys `expectations` and `rules` of a case. What else is wrong with them is said before a run."""

    def expectations(self, node: Node, path: Path_) -> Node:
        """One expectation, or a list of them."""
        if isinstance(node, Seq):
            return Seq(node.place, [self._group(each, (*path, i)) for i, each in enumerate(node.items)])
        return self._group(node, path)

    def rules(self, node: Node, path: Path_) -> Node:
        """A list of rules."""
        items = self.items(node, path, "rules")
        return Seq(node.place, [self._rule(each, (*path, index)) for index, each in enumerate(items)])

    def _group(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        made = Map(node.place)
        for key, value in node.values.items():
            is_list = key in _LISTS and isinstance(value, Seq)
            made.put(key, self._list(value, (*path, key)) if is_list else value, node.keys[key])
        return made

    def _list(self, node: Node, path: Path_) -> Node:
        pieces = self.whole_calls(node.items) if isinstance(node, Seq) else []
        return Seq(node.place, [self._item(each, (*path, index)) for index, each in pieces])

    def _item(self, node: Node, path: Path_) -> Node:
        """A call, a group of calls, or a list of calls in their order."""
        if isinstance(node, Seq):
            return self._list(node, path)
        if isinstance(node, Map) and "tool" not in node.values:
            return self._group(node, path)
        return self._one(node, path)

    def _rule(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        made = Map(node.place)
        for key, value in node.values.items():
            made.put(key, self._one(value, (*path, key)) if key in _CALLS else value, node.keys[key])
        return made

    def _one(self, node: Node, path: Path_) -> Node:
        """A call: as text with its arguments, or as an object whose `tool` is such a text."""
        if isinstance(node, Word) and "(" in node.text:
            return self._written(node, path)
        if isinstance(node, Map) and "args" not in node.values:
            tool = node.values.get("tool")
            if isinstance(tool, Word) and "(" in tool.text:
                made = self._written(tool, (*path, "tool"))
                for key, value in node.values.items():
                    if key != "tool":
                        made.put(key, value, node.keys[key])
                return made
        return node

    def _written(self, node: Word, path: Path_) -> Map:
        call = self.call_of_text(node, path)
        keys = {"name": "tool", "args": "args"}
        return map_node(node.place, ((keys[key], value) for key, value in call.values.items()))


class YamlDocument:
    """A YAML file read whole (`proctor.files.eval_sets.documents.Document`)."""

    def __init__(
        self, name: str, root: Node, value: Any, *, has_comments: bool, is_short_form: bool = False
    ) -> None:
        self.name = name
        self.value = value
        self.warnings: list[Problem] = []
        self.has_comments = has_comments
        self.is_short_form = is_short_form
        """Written in the short form, which refuses unknown keys of sets, cases and turns but under `extra`."""
        self._root = root

    def locate(self, paths: Iterable[Path_]) -> Located:
        """Where the values are; the tree knows all of them."""
        return TreePlaces(self._root)


def read_document(data: bytes, name: str) -> YamlDocument:
    """Read a YAML file of any kind; an eval set in the form of `docs/yaml.md` in the words of the format.

    Raises:
        EvalFileError: it is not YAML, uses what is not read of YAML, or an entry is not of the form; with all problems.
    """
    with no_collection():
        return _read(data, name)


def _read(data: bytes, name: str) -> YamlDocument:
    tree = read_tree(data, name)
    reader = _Reader(tree)
    root = reader.root(tree.root)
    value = to_json(root, reader.refuse_word)
    document = YamlDocument(
        name, root, value, has_comments=tree.has_comments, is_short_form=root is not tree.root
    )
    problems = [*tree.problems, *reader.problems]
    if problems:
        raise file_error([*problems, *_other_problems(document, reader.bad_cases)])
    return document


def _other_problems(document: YamlDocument, bad: set[int]) -> list[Problem]:
    """What is wrong in the words of the format, in cases that are not wrong in the form already."""
    cases = document.value.get("eval_cases") if isinstance(document.value, dict) else None
    found: list[Problem] = []
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if index in bad:
            continue
        try:
            EvalCase.model_validate(case)
        except ValidationError as error:
            found += problems_at(document, explain(error, case, ("eval_cases", index)))
    return found


class _Reader(ExpectationForm):
    """Reads sets and cases; turns are read by what it is made from."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.source)
        self.bad_cases: set[int] = set()

    def refuse_word(self, place: Place, path: Path_, fault: Fault) -> None:
        """Note a word that has no value."""
        self.problem(place, path, fault.message, fault.hint)
        if path[:1] == ("eval_cases",) and isinstance(path[1], int):
            self.bad_cases.add(path[1])

    # --- what the document is ---

    def root(self, node: Node) -> Node:
        """The document in the words of the format."""
        if isinstance(node, Word):
            return node
        found = kind(_outline(node))
        if isinstance(node, Seq):
            ours = _speaks(node.items) or (found is Kind.UNKNOWN and any(map(_misspelled, node.items)))
            return self._set_of(node) if ours else node
        if found in _OTHERS:
            return node
        cases = next(
            (node.values[key] for key in ("cases", "eval_cases", "evalCases") if key in node.values), None
        )
        if (
            "cases" in node.values
            or "eval_set" in node.values
            or (isinstance(cases, Seq) and _speaks(cases.items))
        ):
            return self._set(node)
        if _speaks([node]):
            return self._set_of(Seq(node.place, [node]), whole=True)
        if found is Kind.UNKNOWN and _misspelled(node):
            return self._set_of(Seq(node.place, [node]), whole=True)
        if found is Kind.UNKNOWN and any(meant_key(key, ("cases", "eval_set")) for key in node.values):
            return self._set(node)
        return node

    def _set_of(self, cases: Seq, *, whole: bool = False) -> Map:
        made = map_node(cases.place, [("eval_set_id", self._file_id(cases))])
        made.put("eval_cases", self._cases(cases, (), whole=whole))
        return made

    def _file_id(self, node: Node) -> Word:
        return text_node(set_id_of(self.source.name), node.place)

    def _set(self, node: Map) -> Map:
        before = len(self.problems)
        found = self.fields(node, (), SET_KEYS, "an eval set")
        made = Map(node.place)
        for name in EvalSet.model_fields:
            key, value = found.get(name, ("", node))
            if name == "eval_set_id" and not key:
                made.put(name, self._file_id(node))
            elif name == "eval_set_id":
                made.put(name, text_node(self.text(value, (key,)) or "", value.place), node.keys.get(key))
            elif name == "eval_cases" and key:
                made.put(name, self._cases(value, (key,)), node.keys.get(key))
            elif key:
                made.put(name, value, node.keys.get(key))
        if "eval_cases" not in found and len(self.problems) == before:
            self.problem(node.place, (), "`cases` is missing", "a set is a list of cases under `cases:`")
        self.add_extra(made, found, (), EvalSet, ("id",))
        return made

    # --- cases ---

    def _cases(self, node: Node, path: Path_, *, whole: bool = False) -> Seq:
        items = self.items(node, path, "cases")
        made: list[Map] = []
        for index, item in enumerate(items):
            before = len(self.problems)
            made.append(self._case(item, path if whole else (*path, index)))
            if len(self.problems) > before:
                self.bad_cases.add(index)
        name_cases(made)
        return Seq(node.place, list(made))

    def _case(self, node: Node, path: Path_) -> Map:
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a case, got {kind_of_node(node)}", "a case is `- ask: …`"
            )
            return Map(node.place)
        before = len(self.problems)
        found = self.fields(node, path, CASE_KEYS, "a case")
        made = Map(node.place)
        if "eval_id" in found:
            key, value = found["eval_id"]
            made.put("eval_id", text_node(self.text(value, (*path, key)) or "", value.place))
        self._conversation(made, found, node, path, before)
        if "opening" in found:
            key, value = found["opening"]
            made.put("opening", self._opening(value, (*path, key)), node.keys.get(key))
        self._session(made, found, path)
        for name in ("creation_timestamp", "rubrics", "final_session_state", "tags", *EXPECTATION_KEYS):
            if name in found:
                key, value = found[name]
                made.put(name, self._case_value(name, value, (*path, key)), node.keys.get(key))
        self.add_extra(made, found, path, EvalCase, ("id",))
        return made

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
            return Seq(node.place, [text_node(text, item.place) for item, text in texts if text is not None])
        return node

    def _conversation(self, made: Map, found: Fields, node: Map, path: Path_, before: int) -> None:
        """The turns, the one turn, or the scenario: exactly one of them."""
        one_turn = {name: entry for name, entry in found.items() if name in ONE_TURN_KEYS.values()}
        scenario = [name for name in SCENARIO_KEYS.values() if name in found]
        ways = [name for name in ("conversation", "conversation_scenario") if name in found]
        given = [found[name][0] for name in (*ways, *scenario[:1], *list(one_turn)[:1])]
        if len(given) != 1:
            self._not_one_way(given, node, path, before)
        elif one_turn:
            complain = len(self.problems) == before
            made.put(
                "conversation",
                Seq(node.place, [self.invocation(one_turn, node.place, path, complain=complain)]),
            )
        elif scenario:
            made.put("conversation_scenario", self._scenario(found, node, path))
        else:
            key, value = found[ways[0]]
            is_turns = ways[0] == "conversation"
            made.put(ways[0], self._turns(value, (*path, key)) if is_turns else value, node.keys.get(key))

    def _not_one_way(self, given: list[str], node: Map, path: Path_, before: int) -> None:
        if given:
            message, hint = (
                f"`{given[0]}` beside `{given[1]}`",
                "a case has turns, or one turn of its own, or a scenario to play",
            )
            self.problem(node.keys[given[1]], (*path, given[1]), message, hint)
        elif len(self.problems) == before:  # else a misspelled key says it
            self.problem(
                node.place, path, "nothing is asked", "a case has `ask`, or `turns`, or `start` and `plan`"
            )

    def _turns(self, node: Node, path: Path_) -> Seq:
        items = self.items(node, path, "turns")
        return Seq(node.place, [self.turn(item, (*path, index)) for index, item in enumerate(items)])

    def _opening(self, node: Node, path: Path_) -> Node:
        """The recorded turns before a scenario; a text is what the user says, and nothing else is stated."""
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

    def _scenario(self, found: Fields, node: Map, path: Path_) -> Map:
        for key, name in SCENARIO_KEYS.items():
            if name not in found and key != "persona":
                hint = {
                    "start": "what does the user say first?",
                    "plan": "what does the user want, step by step?",
                }[key]
                self.problem(node.place, path, f"`{key}` is missing", hint)
        made = Map(node.place)
        for name in SCENARIO_KEYS.values():
            if name in found:
                key, value = found[name]
                text = None if name == "user_persona" else self.text(value, (*path, key))
                made.put(name, value if text is None else text_node(text, value.place), node.keys.get(key))
        return made

    def _session(self, made: Map, found: Fields, path: Path_) -> None:
        given = [name for name in SESSION_KEYS.values() if name in found]
        if "session_input" in found:
            made.put("session_input", self.whole(found, "session_input", given, "that", path))
        elif given:
            made.put("session_input", self._session_input(found, given, path))

    def _session_input(self, found: Fields, given: list[str], path: Path_) -> Map:
        place = found[given[0]][1].place
        made = Map(place)
        for name in SESSION_KEYS.values():
            key, node = found.get(name, ("", text_node("", place)))
            if name == "state" and key:
                if not isinstance(node, Map):
                    self.problem(
                        node.place,
                        (*path, key),
                        f"expected an object, got {kind_of_node(node)}",
                        "as in `state: {city: Paris}`",
                    )
                made.put(name, node)
            elif key:
                made.put(name, text_node(self.text(node, (*path, key)) or "", node.place))
            elif name in {"app_name", "user_id"}:  # the format wants them; empty means the usual ones
                made.put(name, node)
        return made


_OTHERS = (Kind.CONFIG, Kind.SCENARIOS, Kind.SESSION_INPUT, Kind.RESULT)


def _outline(node: Node) -> Any:
    """As much of a document as tells its kind: its keys, or those of its elements."""
    if isinstance(node, Map):
        return dict.fromkeys(node.values)
    return [_outline(item) for item in node.items] if isinstance(node, Seq) else None


def _misspelled(case: Node) -> bool:
    """Whether an object that is nothing else is a case with a slip in its keys."""
    return isinstance(case, Map) and any(meant_key(key, ("ask", "turns")) for key in case.values)


def _speaks(cases: Iterable[Node]) -> bool:
    """Whether one of the cases is written in this form."""
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
