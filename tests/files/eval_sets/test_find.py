"""What names on a command line mean, and which ids may become paths."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.files.eval_sets import selectors as find
from proctor.files.eval_sets.load import load_config
from proctor.files.eval_sets.selectors import (
    find_sets,
    path_segment_fault,
    quote_case_id,
    require_new_set_id,
    require_path_segment,
    set_path,
    sets_in,
    split_selector,
    split_selectors,
)
from proctor.runs.setup.settings import find_config


def golden(shared: Path, name: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((shared / "golden" / name).read_text(encoding="utf-8"))[
        "vectors"
    ]
    assert vectors
    return vectors


def test_selectors_split_as_recorded(shared: Path) -> None:
    for vector in golden(shared, "eval_selectors.json"):
        assert split_selectors(vector["input"]) == vector["result"]["ok"]


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ('"a,b"', ["a,b"]),
        ('"c:d",e', ["c:d", "e"]),
        ('e,"x, y: z",f', ["e", "x, y: z", "f"]),
        ('"say ""hi"""', ['say "hi"']),
        ('"open', ['"open']),
        ('a"b"', ['a"b"']),
        ('"a"b', ['"a"b']),
        ('""', ['""']),
        ('"a,b",', ["a,b"]),
        ('"a\nb"', ["a\nb"]),
    ],
)
def test_an_id_with_a_comma_or_a_colon_goes_in_double_quotes(cases: str, expected: list[str]) -> None:
    assert split_selectors([f"set.json:{cases}"]) == {"set.json": expected}
    assert split_selector(f"C:\\set.json:{cases}") == ("C:\\set.json", expected, "")
    assert split_selector(f"set.json:{cases}:more")[2] == "more"


@given(st.lists(st.text('ab ",:\n').filter(str.strip), min_size=1))
def test_quoted_ids_are_read_again(ids: list[str]) -> None:
    assert split_selector(f"set.json:{','.join(map(quote_case_id, ids))}") == ("set.json", ids, "")
    assert [quote_case_id(one) for one in ("case_1", "two words", "a,b")] == ["case_1", "two words", '"a,b"']


def test_identifiers_are_taken_as_recorded(shared: Path) -> None:
    for vector in golden(shared, "identifiers.json"):
        name = vector["id"]
        assert (path_segment_fault(name) == "") == ("ok" in vector["path_segment"]), name
        if "ok" in vector["create_eval_set"]:
            assert require_new_set_id(name) == name
        else:
            with pytest.raises(SetupError):
                require_new_set_id(name)


BAD_IDS = ["", ".", "..", "../x", "..\\x", "a/b", "/abs", "C:x", "c:\\x", "a\0b", "x/../../y"]
NO_NEW_IDS = [
    *BAD_IDS, "a-b", "a b", "x\n", "\x1b[31m", "%2e%2e%2f", "%252e", "ü", "ａ", "x.", "x ", "\u202ex", "a／b", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_IDS)
def test_an_id_that_would_lead_elsewhere_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match="cannot be part of a path"):
        require_path_segment(name, "the app name")
    with pytest.raises(SetupError, match="cannot be part of a path"):
        set_path(tmp_path, name)


@pytest.mark.parametrize("name", NO_NEW_IDS)
def test_ids_of_new_sets_are_plain_words(name: str) -> None:
    with pytest.raises(SetupError) as caught:
        require_new_set_id(name)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["con", "CON", "com1", "nul", "LPT9"])
def test_names_of_devices_are_refused_on_windows_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "ON_WINDOWS", False)
    assert require_new_set_id(name) == name
    monkeypatch.setattr(find, "ON_WINDOWS", True)
    with pytest.raises(SetupError, match="the name of a device on Windows"):
        require_new_set_id(name)
    assert require_new_set_id(f"{name}1x") == f"{name}1x"


@pytest.mark.parametrize(
    "name", ["%2e%2e%2f", "a／b", "\u202ex", "CON", "a b", "x" * 100, "e\u0301", "\u00e9"]
)
def test_odd_ids_stay_inside_the_folder(tmp_path: Path, name: str) -> None:
    path = set_path(tmp_path, name)
    assert path.parent == tmp_path
    assert path.name == f"{name}.evalset.json"


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "app"
    inside.mkdir()
    (tmp_path / "secret.json").write_text("{}")
    (inside / "x.evalset.json").symlink_to(tmp_path / "secret.json")
    (inside / "y.evalset.json").write_text("{}")
    (inside / "z.evalset.json").symlink_to(inside / "y.evalset.json")
    with pytest.raises(SetupError, match="leads out"):
        set_path(inside, "x")
    assert set_path(inside, "z").name == "z.evalset.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project; the working folder."""
    for name in (
        "b.evalset.json", "a.evalset.json", "one.test.json", "deep/c.test.json", "deep/d.evalset.yaml", "deep/er/e.test.yml",
        ".adk/eval_history/r.evalset_result.json", ".hidden/h.evalset.json", "test_config.json", "other.json", "odd:name.json",
        "agent/known.evalset.json", "agent/words.evalset.yaml",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*selectors: str, agent: str = "") -> list[tuple[str, list[str]]]:
    sets = find_sets(list(selectors), agent_folder=Path(agent) if agent else None)
    return [(one.label, one.case_ids) for one in sets]


@pytest.mark.usefixtures("folder")
class TestFindSets:
    def test_a_file_and_cases_of_it(self) -> None:
        assert found("other.json", "a.evalset.json:x,y", "./a.evalset.json:y,z") == [
            ("other.json", []),
            ("a.evalset.json", ["x", "y", "z"]),
        ]

    def test_a_name_with_a_colon_that_is_there_is_a_file(self) -> None:
        assert found("odd:name.json") == [("odd:name.json", [])]

    @pytest.mark.parametrize(
        ("selector", "cases"),
        [("odd:name.json:x", ["x"]), ("odd:name.json:x,y", ["x", "y"]), ("odd:name.json:", [])],
    )
    def test_cases_of_a_file_whose_name_has_a_colon(self, selector: str, cases: list[str]) -> None:
        assert found(selector) == [("odd:name.json", cases)]

    def test_broken_link_is_reported(self, folder: Path) -> None:
        (folder / "gone.evalset.json").symlink_to("nowhere.json")
        with pytest.raises(SetupProblems, match=r"\(it is a link to nowhere\.json, which does not exist\)"):
            found("gone.evalset.json")

    def test_a_config_that_is_a_link_to_nowhere_is_not_passed_over(self, folder: Path) -> None:
        (folder / "deep" / "test_config.json").symlink_to("nowhere.json")
        config = find_config(folder / "deep" / "c.test.json")
        assert config == folder / "deep" / "test_config.json"
        with pytest.raises(EvalFileError, match=r"\(it is a link to nowhere\.json, which does not exist\)"):
            load_config(config)

    def test_a_folder_is_all_sets_in_it_sorted_without_hidden_ones_and_results(self) -> None:
        names = [label for label, _ in found(".")]
        assert names == [
            "a.evalset.json", "b.evalset.json", "one.test.json", "agent/known.evalset.json", "agent/words.evalset.yaml",
            "deep/c.test.json", "deep/d.evalset.yaml", "deep/er/e.test.yml",
        ]  # fmt: skip

    def test_a_file_and_its_folder_come_once(self) -> None:
        assert [label for label, _ in found("deep/d.evalset.yaml", "deep")] == [
            "deep/d.evalset.yaml",
            "deep/c.test.json",
            "deep/er/e.test.yml",
        ]

    @pytest.mark.parametrize("name", ["known", "words"])
    def test_the_id_of_a_set_in_the_agents_folder(self, name: str) -> None:
        ((label, cases),) = found(f"{name}:c1", agent="agent")
        assert label.startswith(f"agent/{name}.evalset.")
        assert cases == ["c1"]

    @pytest.mark.parametrize(
        ("selector", "message"),
        [
            ("a.evalset.jso", r"a\.evalset\.jso: no such file or folder \(did you mean a\.evalset\.json"),
            ("nowhere/x.json", "the folder nowhere does not exist"),
            ("", "does not name an eval set"),
            (":", "does not name an eval set"),
            (".hidden/..:x", "is a folder; name cases of one file"),
            (".adk", r"no eval sets in the folder \.adk"),
            ("a.evalset.json:x:y", "two colons"),
            ("a\0b", "no such file"),
        ],
    )
    def test_a_name_that_means_nothing_is_refused(self, selector: str, message: str) -> None:
        with pytest.raises(SetupProblems, match=message):
            found(selector)

    def test_an_unknown_id_names_the_known_ones(self) -> None:
        with pytest.raises(
            SetupProblems,
            match=r"knwn: no such file, and no eval set with this id in agent \(did you mean known\?\)",
        ):
            found("knwn", agent="agent")
        with pytest.raises(SetupProblems, match="sets in it: known, words"):
            found("qqqq", agent="agent")

    def test_ids_do_not_lead_out_of_the_agents_folder(self) -> None:
        with pytest.raises(SetupProblems):
            found("../a", agent="agent")

    def test_all_unknown_names_are_reported_at_once(self) -> None:
        with pytest.raises(SetupProblems) as caught:
            found("x.json", "a.evalset.json", "y.json")
        assert len(caught.value.problems) == 2

    def test_a_loop_of_links_ends(self, folder: Path) -> None:
        (folder / "deep" / "loop").symlink_to(folder)
        assert len(list(sets_in(folder / "deep"))) == 3
