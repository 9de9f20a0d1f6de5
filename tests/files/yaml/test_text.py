"""YAML text: what is read of it, what is refused, and where; the same with the fast parser and without."""

import time
from typing import Any

import pytest
import yaml

from proctor.errors import EvalFileError
from proctor.files.text.problems import Path_, Place
from proctor.files.yaml import parser
from proctor.files.yaml.nodes import Fault, TreePlaces, to_json
from proctor.files.yaml.parser import MAX_REPEATED, read_tree


@pytest.fixture(params=["fast parser", "python parser"], autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python parser":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML was built without libyaml")


def read(text: str | bytes) -> Any:
    """The value of a text in which nothing is wrong."""
    tree = read_tree(text.encode() if isinstance(text, str) else text, "f.yaml")
    assert tree.problems == []

    def no_fault(place: Place, path: Path_, fault: Fault) -> None:
        raise AssertionError((place, path, fault))

    return to_json(tree.root, no_fault)


def problems(text: str | bytes) -> list[str]:
    """`line:column: message (hint)` of all that is wrong in a text."""
    data = text.encode() if isinstance(text, str) else text
    try:
        found = read_tree(data, "f.yaml").problems
    except EvalFileError as error:
        found = error.problems
    return [str(problem).removeprefix("f.yaml:").replace(" error:", "") for problem in found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 'y', \"z\\n\"]", {"a": 1, "b": ["x", "y", "z\n"]}),
        ('{"a": [1, 2.5, null, true], "b": {"c": "d\\u00e9\\ud83d\\ude00"}}', {"a": [1, 2.5, None, True], "b": {"c": "dé😀"}}),
        ("\ufeffa: é😀", {"a": "é😀"}),
        ("a: |\n  one\n  two\nb: >\n  one\n  two\n", {"a": "one\ntwo\n", "b": "one two\n"}),
        ("a:\r\n  - b\r\n", {"a": ["b"]}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("a: &x {b: 1}\nc: *x\nd: [*x, *x]", {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": 1}]}),
        ("no: on\n19:00: 2024-01-01", {"no": "on", "19:00": "2024-01-01"}),
        ('"1": a\n\'true\': b\n"<<": c', {"1": "a", "true": "b", "<<": "c"}),
        ("a:", {"a": None}),
        ("- - a\n  - b\n-\n  c: d", [["a", "b"], {"c": "d"}]),
    ],
)  # fmt: skip
def test_what_is_read(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1:1: the file is empty"),
        ("# only this\n", "1:1: the file is empty"),
        ("a: !!python/object:os.system x", "1:4: the tag"),
        ("a: !!str 1", "1:4: the tag"),
        ("a: !mine [1]", "1:4: the tag"),
        ("a: 1\nb: 2\na: 3", "3:1: the key `a` appears twice; first at 1:1"),
        ("1: a", '1:1: `1` as a key, which is not text (write it in quotes: "1")'),
        ("x: {true: a}", "1:5: `true` as a key, which is not text"),
        ("~: a", "1:1: `~` as a key"),
        ("? \n: a", "1:2: nothing as a key"),
        ("007: a", "1:1: `007` as a key"),
        ("[a, b]: c", "1:1: a list as a key; keys are text"),
        ("? {a: b}\n: c", "1:3: an object as a key; keys are text"),
        ("a: {{b}}", "1:5: an object as a key; keys are text (a text that starts with `{` or `[` goes in quotes)"),
        ("a: &x b\n*x : c", "2:1: an alias as a key"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", "3:3: merge keys (`<<`) are not read"),
        ("a: *b", "1:4: `*b` repeats nothing: no `&b` precedes it"),
        ("a: &b [*b]", "1:8: `*b` is inside the value that it repeats"),
        ("a: &b 1\nc: &b 2", "2:4: the anchor `&b` appears twice"),
        ("a: &b [1]\nc: &b [2]", "2:4: the anchor `&b` appears twice"),
        ("a: 1\n---\nb: 2", "2:1: a second document starts here"),
        ("a:\n\tb: 1", "2:1: a tab, where YAML takes only spaces"),
        ("ask: Book: a table", "1:10: a `: ` where no key can be"),
        ('a: "x\nb: 1', "1:4: the quote that is opened here is never closed"),
        ("a: 'It's'", "1:8: this does not belong here"),
        ("- a\nb: 1", "2:1: this does not belong here"),
        ("a: [1, 2\nb: 3", "2:2: expected `,` or `]` in this list"),
        ("tools: [f(x=[1])]", "1:13: expected `,` or `]` in this list"),
        ("a: @home", "1:4: a text cannot start with this character"),
        ("a: - b", "1:4: a list item (`- `) where none can be"),
        ('a: "\\q"', "1:6: an escape that YAML does not have"),
        ("a: %TAG", "1:4: a text cannot start with this character"),
        ("%TAG ! tag:x,2000:\n---\na: !x 1", "3:4: the tag"),
        ("a: b\x01c", "1:5: a control character"),
        ('a: "\\0"', "1:4: a text contains NUL"),
        ("a: 'b\u2028c'", "1:6: U+2028 ends a line for some readers of YAML"),
        ("a: b\x85c", "1:5: U+0085 ends a line"),
        ('a: "\\ud83d"', "1:4: \\ud83d is half a character"),
        ("x: " + "[" * 201, "1:203: nested deeper than 200 levels"),
        ("- " * 201 + "a", "1:401: nested deeper than 200 levels"),
        ("a: 1".encode("utf-16"), "1:1: the file is UTF-16"),
        (b"a: \x00", "1:4: the file contains NUL bytes"),
        (b"a: \xff", "1:4: byte 0xFF is not UTF-8"),
    ],
    ids=lambda value: repr(value[:24]),
)  # fmt: skip
def test_what_is_refused_and_where(text: str | bytes, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


def test_all_refusals_of_a_file_at_once() -> None:
    text = "a: !x 1\nb: 2\nb: 3\n<<: 4\n5: 6\nc: [\n"
    places = [problem.partition(": ")[0] for problem in problems(text)]
    assert places == ["1:4", "3:1", "4:1", "5:1", "7:1"]


def _billion_laughs(levels: int) -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_billion_laughs(9), id="a billion laughs"),
        pytest.param(
            "a: &a " + "x" * 100_000 + "\nb: [" + ", ".join(["*a"] * 1000) + "]", id="a long text, often"
        ),
    ],
)
def test_an_alias_bomb_is_refused_before_it_goes_off(text: str) -> None:
    started = time.process_time()
    [problem] = problems(text)
    assert f"the aliases of this file repeat more than {MAX_REPEATED} values" in problem
    assert time.process_time() - started < 5


def test_a_file_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_VALUES", 5)
    assert read("[1, 2, 3, 4]") == [1, 2, 3, 4]
    assert problems("[1, 2, 3, 4, 5, 6]") == [
        "1:17: the file has more than 5 values (as JSON it can be larger)"
    ]


def test_aliases_within_reason_are_read() -> None:
    assert len(read(_billion_laughs(4))["a3"]) == 10


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("a: 1", False),
        ("a: 1 # why", True),
        ("# why\na: 1", True),
        ("a: x#y", False),
        ("a: 'x # y'", False),
        ('a: "x # y"\nb: |\n  # text\n', False),
        ("a: | # why\n  text\n", True),
        ("# yaml-language-server: $schema=s.json\na: 1", False),
        ("# yaml-language-server: $schema=s.json # and more\na: '#'", False),
        ("# yaml-language-server: $schema=s.json\na: 1 # why", True),
        ("a: '#'\nb: '#' # why", True),
        ("é: '😀 #'\nb: 😀# # why", True),
        ("é: '😀 #'\nb: 😀#", False),
    ],
)
def test_comments_are_noticed(text: str, *, comments: bool) -> None:
    assert read_tree(text.encode(), "f.yaml").has_comments is comments


def test_locations_of_values() -> None:
    tree = read_tree("é: 😀\na:\n  - b: 1\n    c: [2, {d: 3}]\n".encode(), "f.yaml")
    places = TreePlaces(tree.root)
    assert places.value(("é",)) == (1, 4)
    assert places.key(("a",)) == (2, 1)
    assert places.value(("a",)) == (3, 3)
    assert places.key(("a", 0, "c")) == (4, 5)
    assert places.value(("a", 0, "c", 1, "d")) == (4, 16)
    assert places.key(("a", 0, "c", 1)) == (4, 12)
    assert places.value(("a", 0, "gone", "x")) == (3, 5)
