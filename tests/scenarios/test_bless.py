"""What an agent did becomes what is expected of it: in the file of the set, and nowhere else in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.bless import Blessing, bless
from proctor.errors import EvalFileError, SetupProblems
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.text.json_tree import JsonNode
from proctor.runs.storage.open import open_store
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.stores.base import Store
from tests.scenarios.corpus_replay import CONFIG, FAULTS, Corpus, Published, read_corpus

EXPECTATIONS = {"final_response", "finalResponse", "intermediate_data", "intermediateData"}


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Corpus:
    return read_corpus(shared / "corpus")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/store.sqlite3")


@pytest.fixture(scope="module")
def files(shared: Path, corpus: Corpus) -> dict[Path, Published]:
    """Sets of the current form, each id once: the others are converted first, as `bless` advises."""
    found = {}
    for one in corpus.published:
        file, ids = shared / "corpus" / one.file, [case.eval_id for case in one.recorded]
        is_sound = ids and not any("#" in eval_id for eval_id in ids)
        if (
            is_sound
            and one.kind in {"evalset", "test-new"}
            and '"conversation"' in file.read_text("utf-8-sig")
        ):
            found[file] = one
    assert len(found) == 88
    return found


def replayable(file: Path, one: Published) -> list[str]:
    """The ids of the cases of which every turn has something to replay; an agent that does nothing is in error."""
    cases = {case.eval_id: case for case in proctor.load_eval_set(file).eval_cases}
    ids = [case.eval_id for case in one.recorded]
    return [
        eval_id for eval_id in ids if all(text.strip() or calls for text, calls in turns_of(cases[eval_id]))
    ]


def run(file: Path, one: Published, agent: str, store: Store) -> str:
    only = {one.eval_set_id: replayable(file, one)}
    return proctor.evaluate_sync(
        agent, file, config=CONFIG, only=only, store=store, allow_unknown_keys=True
    ).run_id


def blessed(run_id: str, store: Store, cases: list[str], *, force: bool = False) -> Blessing:
    [found] = bless(run_id, cases, store=store, force=force)
    return found


def cases_in_error(run_id: str, store: Store) -> set[str]:
    return {
        case.eval_id
        for case in proctor.load_run(run_id, store).cases
        if case.outcome is proctor.Outcome.ERROR
    }


def without_expectations(value: Any) -> Any:
    """A document without what is expected in its turns."""
    if isinstance(value, dict):
        is_turn = "user_content" in value or "userContent" in value
        return {k: without_expectations(v) for k, v in value.items() if not (is_turn and k in EXPECTATIONS)}
    return [without_expectations(item) for item in value] if isinstance(value, list) else value


def outside(text: str) -> str:
    """The bytes of a document that no expectation has any part in."""
    edit = JsonEdit(text)
    for node in list(_expectations(edit.root)):
        edit.replace_text(node, "")
    return edit.text()


def _expectations(node: JsonNode) -> Iterator[JsonNode]:
    members = node.members or {}
    is_turn = "user_content" in members or "userContent" in members
    for key, child in members.items():
        if is_turn and key in EXPECTATIONS:
            yield child
        else:
            yield from _expectations(child)
    for item in node.items or ():
        yield from _expectations(item)


def turns_of(case: EvalCase) -> list[Any]:
    return [
        (
            text_of(turn.final_response, thoughts=False),
            [(call.name, call.args or {}) for call in turn.tool_calls],
        )
        for turn in case.conversation or ()
    ]


@pytest.mark.nightly
def test_agent_that_meets_its_expectations_changes_no_published_set(
    files: dict[Path, Published], store: Store
) -> None:
    unchanged = 0
    for file, one in files.items():
        if ids := replayable(file, one):
            found = blessed(run(file, one, "replay", store), store, ids)
            assert (found.after, found.cases) == (found.before, []), one.file
            assert len(found.unchanged) == len(ids)
            unchanged += len(ids)
    assert unchanged == 150


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS)
def test_published_sets_change_in_expectations_only_and_can_be_restored(
    files: dict[Path, Published], store: Store, tmp_path: Path, fault: str
) -> None:
    for original, one in files.items():
        file = Path(shutil.copy(original, tmp_path / original.name))
        before, ids = file.read_bytes().decode(), replayable(file, one)
        if not ids:
            continue
        replayed, otherwise = run(file, one, "replay", store), run(file, one, f"replay:{fault}", store)
        ids = [id_ for id_ in ids if id_ not in cases_in_error(otherwise, store)]  # nothing is left to replay
        if not ids:
            continue
        found = blessed(otherwise, store, ids)
        found.write()
        after = file.read_bytes().decode()
        assert bool(found.cases) == (after != before)
        if "//" not in before and "#" not in before and ",\n]" not in before:
            assert without_expectations(json.loads(after)) == without_expectations(json.loads(before))
        if outside(after) != outside(before):  # an expectation that was not stated at all now is
            assert len(list(_expectations(JsonEdit(after).root))) > len(
                list(_expectations(JsonEdit(before).root))
            )
        again = blessed(otherwise, store, ids, force=True)
        assert (again.after, again.cases) == (after, []), one.file
        blessed(replayed, store, ids, force=True).write()
        read = {case.eval_id: case for case in proctor.load_eval_set(file).eval_cases}
        assert [turns_of(read[case.eval_id]) for case in one.recorded] == [
            turns_of(case) for case in one.recorded
        ], one.file
        file.unlink()


# --- one file ----------------------------------------------------------------------------------------------------------

TURN = {
    "invocation_id": "i1",
    "user_content": {"parts": [{"text": "How warm is it?"}], "role": "user"},
    "final_response": {"parts": [{"text": "10 degrees"}], "role": "model"},
    "intermediate_data": {"tool_uses": [{"id": "7", "name": "look", "args": {"city": "Oslo", "unit": "C"}}]},
}


def a_set(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": list(turns), **more}]}


def agent(
    *calls: tuple[str, dict[str, Any]], text: str = "10 degrees", state: dict[str, Any] | None = None
) -> Any:
    async def answer(message: proctor.Content, session: proctor.Session) -> Any:
        for name, args in calls:
            yield proctor.Event.called(name, args, id=name)
            yield proctor.Event.returned(name, {"ok": True}, id=name)
        yield proctor.Event.said(text, state_delta=state or {})

    return answer


LOOK = ("look", {"city": "Oslo", "unit": "C"})
CHANGES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "the text": (agent(LOOK, text="11 degrees"), [('"10 degrees"', '"11 degrees"')]),
    "one argument, and the id stays": (
        agent(("look", {"city": "Oslo", "unit": "F"})),
        [('"unit": "C"', '"unit": "F"')],
    ),
    "a call more": (
        agent(LOOK, ("tell", {})),
        [('"unit": "C"}}]', '"unit": "C"}}, {"name": "tell", "args": {}}]')],
    ),
    "a call before it": (
        agent(("tell", {}), LOOK),
        [('[{"id": "7"', '[{"name": "tell", "args": {}}, {"id": "7"')],
    ),
    "no call": (agent(), [('[{"id": "7", "name": "look", "args": {"city": "Oslo", "unit": "C"}}]', "[]")]),
    "nothing": (agent(LOOK), []),
}


@pytest.mark.parametrize(("built", "changes"), CHANGES.values(), ids=CHANGES)
def test_only_what_differs_is_written(
    built: Any, changes: list[tuple[str, str]], store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "s.evalset.json"
    text = json.dumps(a_set(TURN))
    file.write_text(text)
    result = proctor.evaluate_sync(built, file, config=CONFIG, store=store)
    blessed(result.run_id, store, ["c"]).write()
    for old, new in changes:
        text = text.replace(old, new)
    assert file.read_text() == text
    assert proctor.evaluate_sync(built, file, config=CONFIG).passed


def test_stated_keys_of_the_final_state_are_accepted_and_matchers_stay(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    stated = {"seats": 2, "at": {"$match": "regex", "pattern": ".*:00"}}
    file.write_text(json.dumps(a_set(TURN, final_session_state=stated)))
    built = agent(LOOK, state={"seats": 4, "at": "19:00", "other": 1})
    result = proctor.evaluate_sync(built, file, config=CONFIG, store=store)
    found = blessed(result.run_id, store, [])
    assert found.after == found.before.replace('"seats": 2', '"seats": 4')


def test_cases_a_line(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.jsonl"
    [case] = a_set(TURN)["eval_cases"]
    lines = ['{"eval_set_id": "s"}', json.dumps(case), json.dumps({**case, "eval_id": "d"})]
    file.write_text("\n".join([*lines, ""]))
    result = proctor.evaluate_sync(
        agent(LOOK, text="11 degrees"), file, config={"criteria": {"exact_match": 1}}, store=store
    )
    blessed(result.run_id, store, ["d"]).write()
    assert file.read_text().splitlines() == [*lines[:2], lines[2].replace("10 degrees", "11 degrees")]


YAML = """\
# Notes of mine stay.
eval_set: s
cases:
  - case: one   # and this
    ask: How warm is it?
    tools: [look(city=Oslo, unit=C)]
    expect: 10 degrees
    state: {seats: 0}
    final_state: {seats: 2}

  - case: two
    turns:
      - ask: Hello?
        expect: |
          Hello
          there.
      - ask: How warm?
        tools:
          - look(city=Oslo, unit=C)
        expect: 10 degrees  # so far
    extra:
      mine: [1, 2]
"""


def test_yaml_keeps_its_comments_and_its_layout(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.yaml"
    file.write_text(YAML)
    built = agent(
        ("look", {"city": "Rome", "unit": "C"}), ("tell", {}), text="11 degrees", state={"seats": 3}
    )
    result = proctor.evaluate_sync(built, file, config=CONFIG, store=store)
    blessed(result.run_id, store, []).write()
    assert (
        file.read_text()
        == """\
# Notes of mine stay.
eval_set: s
cases:
  - case: one   # and this
    ask: How warm is it?
    tools:
      - look(city=Rome, unit=C)
      - tell()
    expect: 11 degrees
    state: {seats: 0}
    final_state: {seats: 3}

  - case: two
    turns:
      - ask: Hello?
        tools:
          - look(city=Rome, unit=C)
          - tell()
        expect: 11 degrees
      - ask: How warm?
        tools:
          - look(city=Rome, unit=C)
          - tell()
        expect: 11 degrees  # so far
    extra:
      mine: [1, 2]
"""
    )
    assert proctor.evaluate_sync(built, file, config=CONFIG).passed


COMMENTED = """\
cases:
  - case: a
    ask: hi
    tools:
      # the first look
      - look(city=Oslo)   # always
      - tell()  # then
    expect: "old # no comment"   # as of May
  - case: b
    ask: hi
    tools:
      # only one
      - look(city=Oslo)  # here
    expect: old
"""


def test_comments_within_a_change_stay_or_their_loss_is_reported(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.yaml"
    file.write_text(COMMENTED)
    built = agent(("look", {"city": "Rome"}), ("tell", {}), text="new")
    result = proctor.evaluate_sync(built, file, config=CONFIG, store=store)
    found = blessed(result.run_id, store, ["a", "b"])
    assert (
        found.after
        == """\
cases:
  - case: a
    ask: hi
    tools:
      # the first look
      - look(city=Rome)   # always
      - tell()  # then
    expect: new   # as of May
  - case: b
    ask: hi
    tools:
      - look(city=Rome)
      - tell()  # here
    expect: new
"""
    )
    assert found.lost == ["12: # only one"]


LONG_FORM = """\
eval_set_id: s
eval_cases:
  - eval_id: a  # mine
    conversation:
      - user_content:
          parts: [{text: hi}]
          role: user
        final_response:
          parts: [{text: old}]
          role: model
"""


MIXED_FORM = """\
eval_set_id: s
eval_cases:
  - eval_id: a  # mine
    session_input: {app_name: x, user_id: u}
    conversation:
      - user_content:
          parts:
            - text: hi  # a greeting
        finalResponse:
          # the answer
          parts:
            - text: old  # as of May
          role: model
        intermediate_data:
          tool_uses: []
      - ask: again
        expect: old
"""
ON_ONE_LINE = """\
cases:
  - {eval_id: a, conversation: [{user_content: {parts: [{text: hi}]}, final_response: {parts: [{text: old}]}}, {ask: x, expect: old}]}
  - {case: b, ask: hi, expect: new}  # another
"""
ONE_LONG_TURN = """\
cases:
  - id: a
    user_content: {parts: [{text: hi}], role: user}
    expect: old
"""


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (LONG_FORM, {"text: old": "text: new"}),
        (ON_ONE_LINE, {"text: old": "text: new", "expect: old": "expect: new"}),
        (MIXED_FORM, {"text: old": "text: new", "expect: old": "expect: new"}),
        (ONE_LONG_TURN, {"expect: old": "expect: new"}),
    ],
    ids=["the keys of the format", "one line", "both forms", "one turn without a list"],
)
def test_a_yaml_case_with_the_keys_of_the_format_keeps_them(
    text: str, changes: dict[str, str], store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "s.evalset.yaml"
    file.write_text(text)
    config = {"criteria": {"exact_match": 1}}
    result = proctor.evaluate_sync(agent(text="new"), file, config=config, store=store)
    for old, new in changes.items():
        text = text.replace(old, new)
    assert blessed(result.run_id, store, ["a"]).after == text


def test_matching_yaml_expectation_is_unchanged(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.yaml"
    file.write_text(YAML)
    result = proctor.evaluate_sync("replay", file, config=CONFIG, store=store)
    found = blessed(result.run_id, store, ["one", "two"])
    assert (found.after, found.cases) == (YAML, [])


def test_of_several_parts_only_the_text_changes(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    parts = [{"text": "hm", "thought": True}, {"text": "10 degrees", "own": 1}]
    file.write_text(
        json.dumps(a_set({**TURN, "final_response": {"parts": parts, "role": "model", "custom": 1}}))
    )
    result = proctor.evaluate_sync(agent(LOOK, text="11 degrees"), file, config=CONFIG, store=store)
    found = blessed(result.run_id, store, ["c"])
    assert found.after == found.before.replace("10 degrees", "11 degrees")


# --- what is refused ---------------------------------------------------------------------------------------------------


def changed_case(file: Path) -> None:
    file.write_text(file.read_text().replace("How warm", "How hot"))


def case_gone(file: Path) -> None:
    file.write_text(file.read_text().replace('"eval_id": "c"', '"eval_id": "x"'))


def file_gone(file: Path) -> None:
    file.unlink()


LATE_EDITS: dict[str, tuple[Callable[[Path], None], str]] = {
    "case changed": (changed_case, "was changed since it was run: run it again, or .* --force"),
    "case gone": (case_gone, "the case c is not in this file any more"),
    "file gone": (file_gone, r"s\.evalset\.json"),
}


@pytest.mark.parametrize(("happens", "message"), LATE_EDITS.values(), ids=LATE_EDITS)
def test_a_file_that_is_another_one_now_is_not_written(
    happens: Callable[[Path], None], message: str, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(agent(LOOK, text="x"), file, config=CONFIG, store=store)
    happens(file)
    with pytest.raises(proctor.SetupError, match=message):
        bless(result.run_id, ["c"], store=store)


def test_file_that_changes_before_the_confirmation_is_not_written(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(agent(LOOK, text="x"), file, config=CONFIG, store=store)
    found = blessed(result.run_id, store, ["c"])
    changed_case(file)
    with pytest.raises(EvalFileError, match="was changed since it was read; nothing was written"):
        found.write()


def test_error_is_not_accepted(store: Store, tmp_path: Path) -> None:
    def breaks(text: str) -> str:
        raise ConnectionError("down")

    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(breaks, file, config=CONFIG, store=store)
    for ids in ([], ["c"]):
        with pytest.raises(SetupProblems, match=r"s/c .*error"):
            bless(result.run_id, ids, store=store)


SILENCE = {"parts": [{"text": ""}], "role": "model"}
NO_CALLS: dict[str, Any] = {"intermediate_data": {"tool_uses": []}}
EMPTY: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no text where one is expected": (agent(text=""), {**TURN, **NO_CALLS}, "no answer text in turn 1"),
    "white space where a text is expected": (agent(text=" \u200b"), {**TURN, **NO_CALLS}, "no answer text in turn 1"),
    "calls, and no text where one is expected": (agent(LOOK, text=""), TURN, "no answer text in turn 1"),
    "nothing where nothing is expected": (
        agent(text=""),
        {**TURN, **NO_CALLS, "final_response": None},
        "neither text nor tool call in turn 1",
    ),
    "calls where no text is expected": (agent(LOOK, text=""), {**TURN, "final_response": None}, ""),
    "nothing where silence is expected": (agent(text=""), {**TURN, **NO_CALLS, "final_response": SILENCE}, ""),
    "a text": (agent(LOOK), TURN, ""),
}  # fmt: skip


@pytest.mark.parametrize(("under_test", "turn", "why"), EMPTY.values(), ids=EMPTY)
def test_empty_answer_is_not_accepted(
    under_test: Any, turn: dict[str, Any], why: str, store: Store, tmp_path: Path
) -> None:
    """`compat` lets silent turns through, as do runs that were made before they were errors."""
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(turn)))
    result = proctor.evaluate_sync(under_test, file, config=CONFIG, store=store, compat="adk")
    if not why:
        assert len(bless(result.run_id, ["c"], store=store)) == 1
        return
    with pytest.raises(SetupProblems, match=why):
        bless(result.run_id, ["c"], store=store)


def test_case_with_a_broken_metric_is_not_accepted(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    config = {"criteria": {"known_tools": 1.0}}  # an agent that declares no tools is an error
    result = proctor.evaluate_sync(agent(LOOK, text="11"), file, config=config, store=store)
    assert result.outcome == "error"
    with pytest.raises(SetupProblems, match=r"s/c has no trial that could be scored \(it is error\)"):
        bless(result.run_id, ["c"], store=store)


def test_trials_that_went_differently_want_a_choice(store: Store, tmp_path: Path) -> None:
    answers = iter(["11 degrees", "12 degrees"])
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(
        lambda text: next(answers), file, config=CONFIG, store=store, num_runs=2, concurrency=1
    )
    with pytest.raises(
        SetupProblems, match=r"went differently from trial to trial \(2 trials\): choose one, --trial N"
    ):
        bless(result.run_id, store=store)
    [found] = bless(result.run_id, store=store, trial=2)
    assert "12 degrees" in found.after


@pytest.mark.parametrize("name", ["d", "s/d", ""])
def test_missing_case_is_reported(name: str, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(agent(LOOK), file, config=CONFIG, store=store)
    with pytest.raises(SetupProblems, match="has no case"):
        bless(result.run_id, [name], store=store)


WITH_ANCHORS = {
    "a value used twice": "cases:\n  - case: a\n    ask: hi\n    expect: &e old\n  - case: b\n    ask: hi\n    expect: *e\n",
    "turns used twice": (
        "cases:\n  - case: a\n    turns: &t\n      - ask: hi\n        expect: old\n  - case: b\n    turns: *t\n"
    ),
}


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("text", WITH_ANCHORS.values(), ids=WITH_ANCHORS)
def test_what_would_not_be_what_was_meant_is_not_written(
    text: str, name: str, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "s.evalset.yaml"
    file.write_text(text)
    result = proctor.evaluate_sync(
        agent(text="new"), file, config={"criteria": {"exact_match": 1}}, store=store
    )
    with pytest.raises(SetupProblems, match="Nothing was written"):
        bless(result.run_id, [name], store=store)
    assert file.read_text() == text


def test_one_case_that_cannot_be_changed_does_not_keep_the_others_from_it(
    store: Store, tmp_path: Path
) -> None:
    """`x` and `y` share an anchor, `gone` is another one now, `broken` ended in an error, `lost` is not in the file."""
    case = "  - case: {0}\n    ask: {0}\n    expect: old\n".format
    file, other = tmp_path / "s.evalset.yaml", tmp_path / "t.evalset.yaml"
    names = ["a", "gone", "b", "broken", "lost", "c"]
    shared = "  - case: x\n    ask: x\n    expect: &e old\n  - case: y\n    ask: y\n    expect: *e\n"
    file.write_text("cases:\n" + "".join(map(case, names)) + shared)
    other.write_text("cases:\n" + case("z"))

    def built(text: str) -> str:
        if text == "broken":
            raise ValueError("out of order")
        return "new"

    result = proctor.evaluate_sync(built, [file, other], config={"criteria": {"exact_match": 1}}, store=store)
    file.write_text(
        file.read_text().replace(case("gone"), case("gone") + "    state: {a: 1}\n").replace(case("lost"), "")
    )
    first, second = bless(
        result.run_id, ["a", "gone", "b", "broken", "lost", "c", "x", "y", "z"], store=store
    )
    assert (first.cases, second.cases) == (["a", "b", "c"], ["z"])
    reasons = "\n".join(map(str, first.refused))
    assert len(first.refused) == 5
    for why in (
        "s/broken has no trial that came to its end",
        "the case gone was changed since",
        "lost is not in this file any more",
        "`expect` is used in several places",
    ):
        assert why in reasons
    first.write()
    assert proctor.load_eval_set(file).eval_cases[0].conversation[0].final_response.parts[0].text == "new"  # type: ignore[index, union-attr]  # it has one
    assert file.read_text().endswith(shared)


def test_two_sets_of_one_name_are_chosen_by_path(store: Store, tmp_path: Path) -> None:
    files = [tmp_path / "one" / "s.evalset.json", tmp_path / "two" / "s.evalset.json"]
    for file in files:
        file.parent.mkdir()
        file.write_text(json.dumps(a_set(TURN)))
    result = proctor.evaluate_sync(agent(LOOK, text="x"), files, config=CONFIG, store=store)
    with pytest.raises(proctor.SetupError, match=r"two sets of run .* are called s: run each by itself"):
        bless(result.run_id, store=store)


def test_trials_that_ended_in_other_states_or_in_an_error_want_a_choice(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.evalset.json"
    file.write_text(json.dumps(a_set(TURN, final_session_state={"seat": 9})))
    seats = iter(range(1, 9))

    def takes_a_seat(text: str) -> dict[str, Any]:
        if (seat := next(seats)) == 4:
            raise ConnectionError("down")
        call = {"name": "look", "args": LOOK[1]}
        return {"tool_calls": [call], "text": "10 degrees", "state_delta": {"seat": seat}}

    runs = [
        proctor.evaluate_sync(
            takes_a_seat, file, config=CONFIG, store=store, num_runs=2, concurrency=1
        ).run_id
        for _ in range(2)
    ]
    with pytest.raises(SetupProblems, match="went differently from trial to trial"):
        bless(runs[0], store=store)
    with pytest.raises(SetupProblems, match="has a trial that ended in an error"):
        bless(runs[1], ["c"], store=store)
    [found] = bless(runs[1], ["c"], store=store, trial=1)
    assert '"seat": 3' in found.after


def test_old_forms_are_converted_first(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "s.test.json"
    file.write_text(json.dumps([{"query": "hi", "reference": "hello", "expected_tool_use": []}]))
    result = proctor.evaluate_sync(agent(text="x"), file, config=CONFIG, store=store)
    with pytest.raises(
        SetupProblems, match="this form is read-only: use `proctor migrate` or `proctor convert` first"
    ):
        bless(result.run_id, store=store)
