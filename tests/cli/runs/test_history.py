"""`proctor history`: broken cases and their first run, flaky cases, and only comparable runs compared."""

import io
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import proctor
from proctor.analysis.history.history_report import history_blocks
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.analysis.history import ChangedBy
from tests.cli.project import in_this_process, write_set

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs/schemas/history.schema.json").read_text(encoding="utf-8"))
EVIL = "evil \x1b[2Jname <b>"
RESPONSE = "response_match_score"

AGENT = """
def root_agent(message):
    import json
    from pathlib import Path
    answers = json.loads(Path("answers.json").read_text())
    answer = answers.get(message, f"You sent {message}")
    if isinstance(answer, list):
        answers[message] = answer[1:] + answer[:1]
        Path("answers.json").write_text(json.dumps(answers))
        answer = answer[0]
    if answer == "raise":
        raise RuntimeError("no connection")
    return answer
# build 1
"""


def case(eval_id: str) -> dict[str, Any]:
    return {
        "eval_id": eval_id,
        "conversation": [
            {
                "user_content": {"role": "user", "parts": [{"text": eval_id}]},
                "final_response": {"role": "model", "parts": [{"text": f"You sent {eval_id}"}]},
            }
        ],
    }


Run = Callable[..., None]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the set after changes: the answers of the agent, its build, the threshold, a case."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    write_set(tmp_path / "words.evalset.json", case("a"), case("b"), case(EVIL))
    builds = [1]

    def ran(
        answers: dict[str, Any] | None = None, *, build: bool = False, threshold: float = 0.8, trials: int = 1
    ) -> None:
        (tmp_path / "answers.json").write_text(json.dumps(answers or {}))
        if build:
            builds[0] += 1
            (tmp_path / "agent.py").write_text(AGENT.replace("# build 1", f"# build {builds[0]}"))
            shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        (tmp_path / "test_config.json").write_text(json.dumps({"criteria": {RESPONSE: threshold}}))
        done = in_this_process(
            "eval", "agent.py", "words.evalset.json", "--num-runs", str(trials), "--concurrency", "1"
        )
        assert done.returncode in {0, 1, 3}, done.stderr

    return ran


def shown(*arguments: str) -> str:
    done = in_this_process("history", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def courses() -> dict[str, str]:
    return {one.eval_id: one.course.value for one in proctor.history_sync().cases}


WRONG = {"b": "Pardon?"}


# --- what became of a case -------------------------------------------------------------------------------------------

COURSES = {
    "passed, and fails with another build": ([({}, False), (WRONG, True)], "broke"),
    "passed, and fails though nothing changed": ([({}, False), (WRONG, False)], "flaky"),
    "fails since two runs": ([({}, False), (WRONG, True), (WRONG, True)], "failing"),
    "never passed": ([(WRONG, False)], "failing"),
    "could not be scored": ([({}, False), ({"b": "raise"}, True)], "undecided"),
    "passes again with another build": ([(WRONG, False), ({}, True)], "fixed"),
    "back and forth, each time another build": (
        [({}, True), (WRONG, True), ({}, True), (WRONG, True)],
        "flaky",
    ),
    "once broken and mended long ago": ([({}, True), (WRONG, True), ({}, True), ({}, True)], "steady"),
    "an error in between does not count as a flip": (
        [({}, False), ({"b": "raise"}, False), ({}, False)],
        "steady",
    ),
    "always passed": ([({}, False), ({}, True)], "steady"),
}


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(("runs", "course"), COURSES.values(), ids=COURSES)
def test_the_course_of_a_case(run: Run, runs: list[tuple[dict[str, str], bool]], course: str) -> None:
    for answers, build in runs:
        run(answers, build=build)
    assert courses() == {"a": "steady", "b": course, EVIL: "steady"}


def test_trials_that_differ_in_a_case_that_passes_make_it_flaky(run: Run) -> None:
    run({"b": ["You sent b", "You sent b", "You b"]}, trials=3, threshold=0.7)
    run({"b": ["You sent b", "You sent b", "You"]}, trials=3, threshold=0.7)
    found = proctor.history_sync().of(proctor.Course.FLAKY)
    assert [(one.eval_id, one.mixed, one.flips, one.decided) for one in found] == [("b", 1, 1, 2)] or [
        (one.eval_id, one.failed) for one in found
    ] == [("b", 0)]


def test_a_case_that_was_always_flaky_did_not_break(run: Run) -> None:
    """Some of its trials failed when it passed, too: its present failure is not new."""
    half = ["You sent b"] * 3 + ["no"]
    run({"b": half}, trials=4, threshold=0.7)
    run({"b": ["no"] * 2 + ["You sent b"] * 2}, trials=4, threshold=0.7, build=True)
    (flaky,) = proctor.history_sync().of(proctor.Course.FLAKY)
    assert (flaky.eval_id, flaky.mixed, flaky.failed, flaky.unexplained) == ("b", 2, 1, 0)


# --- the first run where it broke ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_where_it_broke_and_when_it_last_passed(run: Run) -> None:
    run()
    run()
    run(WRONG, build=True)
    run(WRONG, build=True)
    ids = [one.run_id for one in proctor.list_runs()]
    (case_,) = proctor.history_sync().of(proctor.Course.FAILING)
    assert case_.turn is not None
    assert case_.turn.before is not None
    assert (case_.turn.first.run_id, case_.turn.before.run_id, case_.lasted) == (ids[1], ids[2], 2)
    assert [(one.what, one.expected) for one in case_.turn.changed] == [("agent", True)]
    output = shown()
    assert re.search(rf"FAILING  words/b  ppff  fails for 2 runs, since run {ids[1][:6]} \(", output)
    assert f"last passed in run {ids[2][:6]} (" in output
    assert "    differs: the source of the agent " in output
    assert output.splitlines()[-1] == "CASES  failing=1  steady=2"


def nothing(_: Path) -> None:
    """Nothing is changed by hand."""


def another_case(folder: Path) -> None:
    path = folder / "words.evalset.json"
    path.write_text(path.read_text().replace("You sent b", "You sent bee"))


UNLIKE: dict[str, tuple[Callable[[Path], None], dict[str, Any], str]] = {
    "the threshold": (nothing, {"threshold": 0.9}, f"the threshold of {RESPONSE} was 0.8 and is 0.9"),
    "the case": (another_case, {}, "the case itself was changed"),
    "how often it is tried": (nothing, {"trials": 2}, "the cases of words had 1 trial and have 2 trials"),
}


@pytest.mark.parametrize(("change", "given", "message"), UNLIKE.values(), ids=UNLIKE)
def test_runs_that_are_not_comparable_are_reported(
    run: Run, tmp_path: Path, change: Callable[[Path], None], given: dict[str, Any], message: str
) -> None:
    run()
    change(tmp_path)
    run(WRONG, build=True, **given)
    assert f"    warning: {message}" in shown()
    (case_,) = proctor.history_sync().of(proctor.Course.BROKE)
    assert case_.turn is not None
    assert case_.turn.warnings == [message]


def test_change_of_a_function_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    eval_set = {"eval_set_id": "words", "eval_cases": [case("a")]}
    for answer in ("You sent a", "Pardon?"):
        agent = partial(str.format, answer)
        proctor.evaluate_sync(agent, eval_set, config={"criteria": {RESPONSE: 0.8}}, store="s.sqlite3")
    (case_,) = proctor.history_sync(store="s.sqlite3").of(proctor.Course.BROKE)
    assert case_.turn is not None
    assert (case_.turn.known, case_.unexplained) == (False, 0)
    assert "it is unknown whether the agent changed between the runs" in shown("--store", "s.sqlite3")


def test_runs_that_did_not_reach_a_case_are_left_out(run: Run) -> None:
    run()
    assert in_this_process("eval", "agent.py", "words.evalset.json:a").returncode == 0
    run(WRONG, build=True)
    assert "BROKE  words/b  p-f  now fails, since run" in shown()


def test_unread_runs_are_counted(run: Run) -> None:
    for _ in range(3):
        run(WRONG)
    output = shown("--limit", "2")
    assert output.startswith("RUNS  2  older=1\n")
    assert "failed in both of its runs, since run " in output
    assert "(1 older run not read)" in output
    assert shown("--limit", "0").startswith("RUNS  3\n")


# --- one case --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_case_run_by_run(run: Run) -> None:
    run()
    run(WRONG, build=True)
    run(WRONG, threshold=0.7, build=True)
    output = shown("b").splitlines()
    assert output[0].startswith("CASE  words/b  failing  fails for 2 runs, since run ")
    assert output[1] == f"METRIC  {RESPONSE}  900"
    heads = [line.split("  ")[2:4] for line in output if line.startswith("RUN")]
    assert [head[0] for head in heads] == ["failed", "failed", "passed"]
    assert f"    warning: the threshold of {RESPONSE} was 0.8 and is 0.7" in output
    assert shown("words/b") == shown("b")


def test_the_score_of_a_metric_over_runs(run: Run) -> None:
    run({"b": ["You sent b", "Pardon?"]}, trials=2)
    assert f"{RESPONSE}=0.50 (95 % CI: 0.00 to 1.00)" in shown("b", "--metric", RESPONSE)
    over_cases = shown("--metric", RESPONSE).splitlines()
    assert over_cases[1] == f"METRIC  {RESPONSE}  8"
    assert "0.83 (95 % CI: 0.12 to 1.00)  cases=3  needs=0.8" in over_cases[2]
    assert "  66.7 % (2 of 3, 95 % CI: 21-94)  cases=3" in shown("--metric", "passed")


@pytest.mark.slow
def test_the_line_of_a_metric_leaves_out_runs_of_a_part_of_the_cases(run: Run) -> None:
    run()
    run({"a": "Pardon?"})
    in_this_process(
        "eval", "agent.py:root_agent", "words.evalset.json", "--limit", "1"
    )  # fails its only case
    in_this_process("eval", "agent.py:root_agent", "words.evalset.json", "--fail-fast", "--concurrency", "1")
    assert shown("--metric", RESPONSE).splitlines()[1] == f"METRIC  {RESPONSE}  96  left_out=2"
    out = io.StringIO()
    draw_blocks(
        partial(history_blocks, proctor.history_sync(), RESPONSE), out, ReportOptions(width=80, color=False)
    )
    assert "2 partial runs not drawn" in out.getvalue()


def test_control_sequences_reach_no_terminal(run: Run) -> None:
    run()
    run({EVIL: "\x1b[31mred\x07"}, build=True)
    assert "\x1b" not in shown() + shown(f"words/{EVIL}")
    found = proctor.history_sync()
    assert found.cases[0].eval_id == EVIL
    for one in (found, proctor.history_sync(EVIL)):
        out = io.StringIO()
        draw_blocks(partial(history_blocks, one, ""), out, ReportOptions(width=80, color=False))
        assert "\x1b" not in out.getvalue()
        assert "evil " in out.getvalue()
        assert max(map(len, out.getvalue().splitlines())) <= 80


@pytest.mark.slow
def test_json_follows_its_schema(run: Run) -> None:
    run()
    run(WRONG, build=True, trials=2)
    for arguments in ([], ["b"], ["--metric", RESPONSE]):
        data = json.loads(shown("--json", *arguments))
        jsonschema.validate(data, SCHEMA)
    data = json.loads(shown("b", "--json"))
    assert (data["case"], data["cases"][0]["strip"], data["cases"][0]["turn"]["known"]) == (
        "words/b",
        "pf",
        True,
    )
    assert [point["outcome"] for point in data["cases"][0]["points"]] == ["failed", "passed"]
    assert [*json.loads(shown("--json", "--metric", RESPONSE))["metrics"]] == [RESPONSE]


# --- which runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c"], "the run has no case 'c'."),
        (["--metric", "response_match"], "Did you mean 'response_match_score'?"),
        (["--agent", "nobody"], "no run matches these options"),
        (["b", "--set", "others"], "matches these options, so that there is no case 'b'"),
        (["--limit", "-1"], "Invalid value for '--limit'"),
        (["--store", "nowhere.sqlite3"], "no runs yet"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_invalid_request_is_reported(run: Run, arguments: list[str], message: str) -> None:
    run()
    done = in_this_process("history", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_case_of_two_sets_is_named_with_its_set(run: Run, tmp_path: Path) -> None:
    write_set(tmp_path / "more.evalset.json", case("b"))
    run()
    assert in_this_process("eval", "agent.py", "more.evalset.json").returncode == 0
    done = in_this_process("history", "b")
    assert "several sets have a case 'b': use more/b or words/b" in done.stderr
    assert shown("b", "--set", "more").startswith(
        "CASE  more/b  steady  passed in the only run that scored it"
    )


def test_so_is_one_of_two_sets_of_one_run(run: Run, tmp_path: Path) -> None:
    run()
    write_set(tmp_path / "more.evalset.json", case("b"))
    assert in_this_process("eval", "agent.py", "words.evalset.json", "more.evalset.json").returncode == 0
    done = in_this_process("history", "b")
    assert done.returncode == 2
    assert "several sets have a case 'b': use words/b or more/b" in done.stderr
    assert shown("more/b").startswith("CASE  more/b  ")


def test_only_the_runs_of_one_agent(run: Run) -> None:
    run()
    shutil.copy("agent.py", "other.py")
    assert in_this_process("eval", "other.py", "words.evalset.json").returncode == 0
    names = {one.agent for one in proctor.history_sync().runs}
    assert len(names) == 2
    for name in names:
        assert {one.agent for one in proctor.history_sync(agent=name).runs} == {name}


def test_cases_that_broke_together_are_grouped(run: Run) -> None:
    run()
    run({"a": "no", **WRONG}, build=True)
    out = io.StringIO()
    draw_blocks(
        partial(history_blocks, proctor.history_sync(), ""), out, ReportOptions(width=100, color=False)
    )
    drawn = out.getvalue()
    cases = drawn.partition("pass rate")[0]
    assert cases.count("now fails, since run") == cases.count("the source of the agent") == 1
    assert [line.split()[0] for line in drawn.splitlines() if "●│○" in line] == ["a", "b"]


def test_changed_case_is_not_grouped_with_broken_ones(run: Run, tmp_path: Path) -> None:
    run()
    another_case(tmp_path)
    run({"a": "no", **WRONG}, build=True)
    out = io.StringIO()
    draw_blocks(
        partial(history_blocks, proctor.history_sync(), ""), out, ReportOptions(width=100, color=False)
    )
    groups = out.getvalue().split("now fails, since run")[1:]
    assert len(groups) == 2
    (changed,) = (group for group in groups if "the case itself was changed" in group)
    assert ("    b  " in changed, "    a  " in changed) == (True, False)


@pytest.mark.slow
def test_imported_run_is_ordered_by_its_start(run: Run) -> None:
    """Not by its import; and a file with less of a case than a set does not make the case changed."""
    run()
    assert in_this_process("export", "latest", "--output", "first.jsonl").returncode == 0
    run({"a": "no"}, build=True)
    broke = proctor.list_runs()[0].run_id
    run({"a": "no"})
    assert in_this_process("import", "first.jsonl").returncode == 0
    imported = proctor.list_runs()[0].run_id
    found = next(case for case in proctor.history_sync().cases if case.eval_id == "a")
    assert found.turn is not None
    assert found.turn.before is not None
    assert (found.course, found.turn.first.run_id) == (proctor.Course.FAILING, broke)
    assert found.turn.before.run_id == imported
    warning = "one of the runs was imported: whether a case was changed is not known"
    assert warning in found.turn.warnings
    assert "the case itself was changed" not in found.turn.warnings
    compared = proctor.compare_sync(imported, broke)
    assert warning in compared.warnings
    assert (compared.changed_cases, compared.pairs, compared.outcome) == ([], 3, "inconclusive")
    proctor.set_baseline("main", imported)
    assert proctor.compare_sync(candidate=broke, baseline="main").warnings == compared.warnings


# --- agents, builds and providers -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_difference_between_two_runs_is_drawn_once(run: Run) -> None:
    run({"a": "Pardon?"})
    run(WRONG, build=True, threshold=0.9)
    text = drawn()
    courses, _, changes = text.partition("you changed:")
    for difference in (
        "the source of the agent ",
        "the threshold of response_match_score was 0.8 and is 0.9",
    ):
        assert (courses.count(difference), changes.count(difference)) == (1, 1)
    assert courses.count("the differences between these runs are above") == 1
    assert shown().count("warning: the threshold of response_match_score was 0.8 and is 0.9") == 2


def drawn(case: str | None = None, *, width: int = 100) -> str:
    out = io.StringIO()
    options = ReportOptions(width=width, color=False)
    draw_blocks(partial(history_blocks, proctor.history_sync(case), ""), out, options)
    return out.getvalue()


@pytest.fixture
def two_agents(run: Run) -> None:
    """Run two agents in turn: the first always passes, the second never answers `b`."""
    Path("other.py").write_text(AGENT.replace("answer = answers.get(message,", "answer = 'no' if message == 'b' else answers.get(message,"))  # fmt: skip
    for _ in range(2):
        run()
        assert in_this_process("eval", "other.py", "words.evalset.json").returncode == 1


@pytest.mark.slow
@pytest.mark.usefixtures("two_agents")
def test_each_agent_has_its_own_history() -> None:
    found = proctor.history_sync()
    agents = {one.agent for one in found.cases}
    assert len(agents) == 2
    assert {(one.eval_id, one.course.value) for one in found.cases if one.course is not proctor.Course.STEADY} == {
        ("b", "failing")
    }  # fmt: skip
    (failing,) = found.of(proctor.Course.FAILING)
    assert [point.outcome.value for point in failing.points] == ["failed", "failed"]
    assert re.search(r"^FAILING  words/b  ff  .*  agent=other$", shown(), re.MULTILINE)
    assert shown("b").count("CASE  words/b  ") == 2
    text = drawn()
    assert all(f"  {agent}\n" in text for agent in agents)


@pytest.mark.slow
@pytest.mark.usefixtures("two_agents")
def test_agents_are_one_history_if_asked_for() -> None:
    found = proctor.history_sync(combine_agents=True)
    (flaky,) = found.of(proctor.Course.FLAKY)
    assert (flaky.agent, flaky.eval_id, flaky.flips) == ("", "b", 3)
    assert "FLAKY  words/b  pfpf  " in shown("--combine-agents")
    assert shown("b", "--combine-agents").count("CASE  words/b  ") == 1


ALL_WRONG = {"a": "no", "b": "no", EVIL: "no"}


@pytest.mark.slow
def test_same_code_with_other_results_is_a_change_of_the_provider(run: Run) -> None:
    run(trials=5)
    run(ALL_WRONG, trials=5)
    (change,) = proctor.history_sync().changes
    assert (change.changed_by.value, change.p_value is not None) == ("provider", True)
    text = "the provider, a service or data changed: the mean pass rate of 3 cases fell significantly from 100 % to 0 %"
    assert re.search(rf"^CHANGED_BY  \w+  provider  words  {text} \(p = .*\); code, config and cases are the same$",
                     shown(), re.MULTILINE)  # fmt: skip
    (broke, *_) = proctor.history_sync().of(proctor.Course.BROKE)
    assert broke.turn is not None
    assert broke.turn.warnings[0].startswith(text)
    assert proctor.history_sync("b").cases[0].course is proctor.Course.BROKE


@pytest.mark.slow
def test_another_number_of_trials_does_not_hide_a_change_of_the_provider(run: Run) -> None:
    run(trials=3)
    run(trials=5)
    run(ALL_WRONG, trials=6)
    changes = proctor.history_sync().changes
    assert [one.changed_by.value for one in changes] == ["you", "provider", "you"]
    assert [one.differences[0].text for one in changes if one.changed_by is ChangedBy.YOU] == [
        "the cases of words had 5 trials and have 6 trials",
        "the cases of words had 3 trials and have 5 trials",
    ]
    (broke, *_) = proctor.history_sync().of(proctor.Course.BROKE)
    assert broke.turn is not None
    assert [text.partition(":")[0] for text in broke.turn.warnings] == [
        "the cases of words had 5 trials and have 6 trials",
        "the provider, a service or data changed",
    ]
    assert "●│●┊○ ← newest" in drawn()


@pytest.mark.slow
def test_another_build_is_what_you_changed(run: Run) -> None:
    run(trials=5)
    run(ALL_WRONG, trials=5, build=True)
    (change,) = proctor.history_sync().changes
    assert (change.changed_by.value, change.p_value) == ("you", None)
    assert "you changed: the source of the agent " in drawn()
    assert re.search(r"^  │ you changed something$", drawn(), re.MULTILINE)
    assert "●│○ ← newest" in drawn()


def test_few_results_that_differ_are_no_change(run: Run) -> None:
    run()
    run(WRONG)
    assert proctor.history_sync().changes == []
    assert courses()["b"] == "flaky"


MODELS = """
from proctor import Content, Event, Part

def root_agent(message):
    from pathlib import Path
    parts = [Part(text=f"You sent {message}")]
    return Event(author="agent", content=Content(role="model", parts=parts), model_version=Path("model").read_text())
"""


@pytest.mark.slow
def test_other_models_of_the_same_code_are_a_change_of_the_provider(run: Run) -> None:
    run()
    Path("models.py").write_text(MODELS)
    for model in ("m-08", "m-08", "m-10"):
        Path("model").write_text(model)
        assert in_this_process("eval", "models.py", "words.evalset.json").returncode == 0
    (change,) = proctor.history_sync().changes
    assert (change.agent, change.changed_by.value, change.p_value) == ("models", "provider", None)
    assert change.differences[0].text == (
        "the provider changed: the models that answered were m-08 and are m-10; code, config and cases are the same"
    )


def test_of_an_agent_without_a_version_it_is_unknown_who_changed_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    eval_set = {"eval_set_id": "words", "eval_cases": [case("a"), case("b")]}
    for answer in ("You sent {}", "Pardon?"):
        agent = partial(str.format, answer)
        proctor.evaluate_sync(
            agent, eval_set, config={"criteria": {RESPONSE: 0.8}}, store="s.sqlite3", num_runs=5
        )
    (change,) = proctor.history_sync(store="s.sqlite3").changes
    assert change.changed_by.value == "unknown"
    assert change.differences[0].text.endswith("; it is unknown whether the agent changed")


@pytest.mark.slow
def test_the_pass_rate_of_each_run_has_its_interval(run: Run) -> None:
    run()
    run(WRONG, build=True)
    lines = [line.split("  ") for line in shown().splitlines() if line.startswith("PASS_RATE")]
    assert [line[3:5] for line in lines] == [
        ["66.7 % (2 of 3, 95 % CI: 21-94)", "cases=3"],
        ["100 % (3 of 3, 95 % CI: 44-100)", "cases=3"],
    ]
    for width in (80, 100):
        text = drawn(width=width)
        newest, oldest = (next(line for line in text.splitlines() if line.startswith(f"  {end} ")) for end in ("newest", "oldest"))  # fmt: skip
        assert re.search(r" 66.7 %  21–94 %  .*├─+●─+┤", newest)
        assert re.search(r" 100 %  44–100 %  .*├─+●  ", oldest)
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.slow
def test_json_names_agents_builds_and_changes(run: Run) -> None:
    run(trials=5)
    run(ALL_WRONG, trials=5)
    data = json.loads(shown("--json"))
    jsonschema.validate(data, SCHEMA)
    assert data["version"] == 2
    assert len({one["build"] for one in data["runs"]}) == 1
    (change,) = data["changes"]
    assert (change["changed_by"], change["before"], change["first"]) == (
        "provider",
        data["runs"][1]["run_id"],
        data["runs"][0]["run_id"],
    )
    assert {one["agent"] for one in data["cases"]} == {data["runs"][0]["agent"]}
