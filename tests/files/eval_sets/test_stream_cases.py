"""Large sets are read one case at a time: for every layout, the same cases as reading them whole gives."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError
from proctor.files.eval_sets import source
from proctor.files.eval_sets.source import load_eval_set_text, open_eval_set
from proctor.files.text import json_stream
from proctor.files.text.json_stream import BrokenTextError, LineCounter, Walk
from tests.files.sample_sets import case, content, eval_set, turn


class InMemory:
    """Bytes that count how much of them is read at once."""

    name = "memory"

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read(self, start: int, end: int) -> bytes:
        return self.data[start:end]


def walked(data: bytes) -> tuple[list[Any], dict[str, Any]]:
    walk = Walk(InMemory(data))
    values = [value for _, value in walk]
    spans = walk.spans
    assert [json.loads(data[a:b]) for a, b in zip(spans.starts, spans.ends, strict=True)] == values
    return values, spans.header


TEXTS = st.text('a"\\}{[],: \n\t\r\b\u2028é😀', max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ELEMENTS = st.lists(
    st.dictionaries(st.sampled_from(["eval_id", "conversation", "x"]), VALUES, max_size=3) | VALUES,
    max_size=6,
)
STYLES = st.sampled_from(
    [{}, {"indent": 2}, {"indent": 0}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}]
)


@given(
    ELEMENTS,
    st.dictionaries(TEXTS, VALUES, max_size=2),
    st.booleans(),
    STYLES,
    st.sampled_from([4 << 20, 16, 150]),
)
def test_elements_and_other_keys_are_those_of_the_document(
    elements: list[Any], header: dict[str, Any], first: bool, style: dict[str, Any], chunk: int
) -> None:
    document = {"eval_cases": elements, **header} if first else {**header, "eval_cases": elements}
    text = json.dumps(document, **style).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        assert walked(text) == (elements, header)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"eval_cases": [{"a": 1},]}', id="trailing comma"),
        pytest.param('{"eval_cases": [{"a": 1}] # c\n}', id="comment"),
        pytest.param('{"eval_cases": [{"a": NaN}]}', id="NaN"),
        pytest.param('{"eval_cases": [{"a": 1e999}]}', id="1e999"),
        pytest.param('{"eval_cases": [{"a": "\\u0000"}]}', id="NUL"),
        pytest.param('{"eval_cases": [{"a": "\\ud800"}]}', id="half a character"),
        pytest.param('{"eval_cases": [{"a": 1} {"a": 2}]}', id="missing comma"),
        pytest.param('{"eval_cases": [{"a": 1}, {"a": 2]}', id="wrong bracket"),
        pytest.param('{"eval_cases": [{"a": 1}', id="cut off"),
        pytest.param('{"eval_cases": [{"a": 1}]} x', id="text behind"),
        pytest.param('{"eval_cases": 3}', id="no list"),
        pytest.param('{"other": []}', id="no cases"),
        pytest.param('{"eval_set_id": "a", "eval_set_id": "b", "eval_cases": []}', id="a key twice"),
        pytest.param("[]", id="a list"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_not_a_plain_set_is_left_to_the_slower_reader(text: str) -> None:
    with pytest.raises(BrokenTextError):
        walked(text.encode())


def test_text_that_resembles_the_gap_between_cases_is_not_a_gap() -> None:
    cases = [case(f"c{i}", note='}, {"eval_id"', more=[{"eval_id": "x"}, {"eval_id": "y"}]) for i in range(5)]
    document = {"eval_set_id": "s", "eval_cases": cases}
    for text in (json.dumps(document), json.dumps(document, indent=1), json.dumps(document, indent=0)):
        assert walked(text.encode())[0] == cases


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_regular_layout_parses_only_the_first_and_last_cases_twice(
    monkeypatch: pytest.MonkeyPatch, indent: Any
) -> None:
    exact = Walk._exact
    parsed: list[int] = []

    def counted(self: Walk, at: int) -> bytes:
        parsed.append(at)
        return exact(self, at)

    monkeypatch.setattr(Walk, "_exact", counted)
    cases = [case(f"c{i}") for i in range(100)]
    if indent:  # then the layout decides, and the first key need not be the same
        cases[50::3] = [{"x": 1, **one} for one in cases[50::3]]
    values, _ = walked(json.dumps({"eval_cases": cases}, indent=indent).encode())
    assert len(values) == 100
    assert len(parsed) == 3  # the key, the first case, the last


def test_streaming_and_reading_whole_agree(tmp_path: Path) -> None:
    document = eval_set(
        *(
            case(f"c{i}", conversation=[turn(f"é {i}", final_response=content("a" * i, "model"))])
            for i in range(50)
        )
    )
    path = tmp_path / "s.evalset.json"
    for text in (
        json.dumps(document),
        json.dumps(document, indent=2),
        "\ufeff" + json.dumps(document, ensure_ascii=False),
    ):
        path.write_text(text, encoding="utf-8")
        streamed = open_eval_set(path)
        assert streamed.eval_set() == load_eval_set_text(text.encode(), "s")
        assert streamed.case(7) == streamed.eval_set().eval_cases[7]


def test_places_in_a_large_file(tmp_path: Path) -> None:
    cases = [case(f"c{i}") for i in range(300)]
    cases[200]["conversation"] = [{"user_content": {"parts": [{"text": 3}]}}]
    path = tmp_path / "s.evalset.json"
    text = json.dumps(eval_set(*cases), indent=2)
    path.write_text(text)
    with pytest.raises(EvalFileError) as caught:
        open_eval_set(path)
    (problem,) = caught.value.problems
    line, column = next(
        (n, row.index("3") + 1) for n, row in enumerate(text.split("\n"), 1) if row.strip() == '"text": 3'
    )
    assert (problem.line, problem.column) == (line, column)
    assert problem.field == "eval_cases[200].conversation[0].user_content.parts[0].text"


@given(st.text("aé😀\n", max_size=80), st.data())
def test_lines_and_columns_of_bytes(text: str, data: st.DataObject) -> None:
    counter = LineCounter(InMemory(text.encode()))
    for _ in range(3):
        offset = data.draw(st.integers(0, len(text)))
        before = text[:offset]
        assert counter.place(len(before.encode())) == (
            before.count("\n") + 1,
            offset - (before.rfind("\n") + 1) + 1,
        )


def test_a_file_that_changes_between_two_reads_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text(json.dumps(eval_set(case("a"))))
    opened_set = open_eval_set(path)
    with path.open("a") as file:
        file.write(" ")
    with pytest.raises(EvalFileError, match="changed while it was being read"):
        opened_set.case(0)


def test_replaced_file_keeps_the_content_of_its_first_read(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text(json.dumps(eval_set(case("a"))))
    opened_set = open_eval_set(path)
    (tmp_path / "new").write_text(json.dumps(eval_set(case("b"))))
    (tmp_path / "new").replace(path)
    assert opened_set.case(0).eval_id == "a"


@pytest.mark.parametrize("change", [('"a"', '"b"'), ('"eval_id"', '"eval_ix"'), ('"hi"', '"hi\\"')])
def test_replaced_case_is_detected_even_with_equal_size_and_time(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text(json.dumps(eval_set(case("a"))))
    opened_set, state = open_eval_set(path), path.stat()
    with path.open("r+") as file:
        file.write(json.dumps(eval_set(case("a"))).replace(*change)[: state.st_size])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(EvalFileError, match="changed while it was being read"):
        opened_set.case(0)


class TestTooLargeToBeReadWhole:
    @pytest.fixture(autouse=True)
    def small_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source, "WHOLE_LIMIT", 1000)

    def test_a_plain_set_is_streamed(self, tmp_path: Path) -> None:
        path = tmp_path / "s.json"
        path.write_text(json.dumps(eval_set(*(case(f"c{i}") for i in range(100)))))
        assert len(open_eval_set(path)) == 100

    @pytest.mark.parametrize(
        ("broken", "message"),
        [
            ("NaN", r"s\.json:\d+:\d+: error: .*JSON has no number NaN"),
            ('"x" "y"', r"s\.json:\d+:\d+: error: .*is a comma missing"),
        ],
    )
    def test_a_broken_one_is_refused_with_the_place(self, tmp_path: Path, broken: str, message: str) -> None:
        path = tmp_path / "s.json"
        cases = [case(f"c{i}") for i in range(100)]
        cases[60]["note"] = "here"
        path.write_text(json.dumps(eval_set(*cases), indent=1).replace('"here"', broken))
        with pytest.raises(EvalFileError, match=message) as caught:
            open_eval_set(path)
        line = next(n for n, row in enumerate(path.read_text().split("\n"), 1) if broken in row)
        assert caught.value.problems[0].line == line

    @pytest.mark.parametrize(
        "text", ['[{"query": "q"}, {"query": "' + "x" * 2000 + '"}]', '{"criteria": {}} # ' + "x" * 2000]
    )
    def test_anything_else_is_refused_for_its_size(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "s.json"
        path.write_text(text)
        with pytest.raises(EvalFileError, match="only eval sets in plain JSON are read"):
            open_eval_set(path)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_gigabyte_is_streamed_in_little_memory(tmp_path: Path) -> None:
    """Run in a separate process: the peak of this one belongs to other tests, too."""
    import subprocess
    import sys

    path = tmp_path / "huge.evalset.json"
    one = json.dumps(case("#", note="x" * 100_000))
    with path.open("w") as file:
        file.write('{"eval_set_id": "huge", "eval_cases": [')
        for index in range(10_500):
            file.write(("," if index else "") + one.replace('"#"', f'"c{index}"'))
        file.write("]}")
    assert path.stat().st_size > 10**9
    program = (
        "import resource, sys; from proctor.files.eval_sets.source import open_eval_set;"
        "print(len(open_eval_set(sys.argv[1])), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    # Through a shell: Linux counts the process that starts another as part of its peak, and this one may be large.
    command = ["sh", "-c", '"$0" "$@"; exit $?', sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cases, peak = map(int, done.stdout.split())
    assert cases == 10_500
    assert peak * (1 if sys.platform == "darwin" else 1024) < 200 << 20
    path.unlink()


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_hundred_thousand_cases_are_planned_and_read_in_flat_memory(tmp_path: Path, suffix: str) -> None:
    """The memory of a case: its id, its offsets, its line. Compared with a set of ten, which builds all models, too."""
    import subprocess
    import sys

    expects = [turn(intermediate_data={"tool_uses": [{"name": "f", "args": {}}]})]
    for name, count in (("small", 10), ("large", 100_000)):
        with (tmp_path / f"{name}.evalset{suffix}").open("w") as file:
            head, between, end = ('{"eval_set_id": "s", "eval_cases": [', ",\n  ", "]}")
            if suffix == ".jsonl":
                head, between, end = ('{"eval_set_id": "s"}\n', "\n", "\n")
            file.write(
                head
                + between.join(json.dumps(case(f"case_{i}", conversation=expects)) for i in range(count))
                + end
            )
    program = """
import resource, sys
from proctor.engine.run_options import RunOptions
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import SetRequest
from proctor.files.eval_sets.source import open_eval_set
from proctor.schema.format.config import EvalConfig

peaks = []
for path in sys.argv[1:]:
    opened = open_eval_set(path)
    config = EvalConfig.model_validate({"criteria": {"tool_trajectory_avg_score": 1.0}})
    plan = make_plan([SetRequest(opened, config, "")], RunOptions())
    read = sum(bool(opened.case(index) and opened.where(index)) for index in plan.sets[0].cases)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(read, peaks[1] - peaks[0])
"""
    paths = [str(tmp_path / f"{name}.evalset{suffix}") for name in ("small", "large")]
    command = ["sh", "-c", '"$0" "$@"; exit $?', sys.executable, "-c", program, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read, grown = map(int, done.stdout.split())
    assert read == 100_000
    assert grown * (1 if sys.platform == "darwin" else 1024) < 40_000_000
