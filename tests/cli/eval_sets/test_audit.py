"""`proctor audit`: what it prints, and its exit codes."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.cli.project import case, in_this_process, make_project, write_set
from tests.reports.formats.test_schemas import ROOT, closed
from tests.web.pages.single_file import make_page


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_project(
        tmp_path, case("seats", "book", answer="The table is booked for 4 people and costs $30.")
    )


def test_it_begins_with_the_result_in_one_sentence_and_fits_a_screen() -> None:
    shown = in_this_process("audit", "cases.evalset.json")
    lines = shown.stdout.splitlines()
    assert shown.returncode == 0
    assert lines[0].startswith("Catches ")
    assert "blind to wrong numbers, wrong amounts" in lines[0]
    assert len(lines) <= 25


def test_verbose_lists_the_survivors_by_case() -> None:
    shown = in_this_process("audit", "cases.evalset.json", "-v").stdout
    assert "seats (cases.evalset.json:" in shown
    assert "wrong numbers: turn 1: '4' → " in shown


@pytest.mark.parametrize(("share", "code"), [("0.5", 0), ("0.99", 1)])
def test_fail_under_decides_the_exit_code(share: str, code: int) -> None:
    assert in_this_process("audit", "cases.evalset.json", "--fail-under", share).returncode == code


def test_json_has_every_mutant() -> None:
    data = json.loads(in_this_process("audit", "cases.evalset.json", "--json").stdout)
    (one,) = data["sets"][0]["cases"]
    fates = [each["fate"] for each in one["mutants"]]
    agents = {each["name"] for each in data["operators"] if each["family"] == "agents"}
    assert data["score"]["made"] == sum(each["operator"] not in agents for each in one["mutants"])
    assert set(fates) == {"caught", "survived"}


def test_markdown_is_a_table() -> None:
    shown = in_this_process("audit", "cases.evalset.json", "--format", "markdown").stdout
    assert "Catches" in shown
    assert "| wrong numbers |" in shown


BEGINNINGS = {
    "json": '{\n  "version": 1,',
    "markdown": "**Catches ",
    "github": "::notice title=Proctor%3A audit::Catches ",
    "text": "Catches ",
    "html": "<!doctype html>",
}


@pytest.fixture
def built_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_PAGE_DIR", str(make_page(tmp_path / "page")))


@pytest.mark.slow
@pytest.mark.usefixtures("built_page")
def test_each_report_goes_to_its_file_and_replaces_an_earlier_one(project: Path) -> None:
    reports = [word for name in BEGINNINGS for word in ("--report", f"{name}=audit.{name}")]
    for _ in range(2):
        shown = in_this_process("audit", "cases.evalset.json", "--mutants", "answers", *reports)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert shown.stdout.startswith("Catches ")
        for name, beginning in BEGINNINGS.items():
            assert (project / f"audit.{name}").read_text(encoding="utf-8").startswith(beginning), name


def test_a_report_on_stdout_is_all_that_is_printed() -> None:
    quiet = ("audit", "cases.evalset.json", "--store", "memory:")
    shown = in_this_process(*quiet, "--report", "md=-").stdout
    assert shown.startswith("**Catches ")
    assert shown == in_this_process(*quiet, "--format", "markdown").stdout


def test_annotations_point_at_the_cases_that_prove_nothing_and_at_survivors(project: Path) -> None:
    (project / "test_config.json").write_text(json.dumps({"criteria": {"response_match_score": 0.0001}}))
    echo = case("echo", "You sent it.", answer="You sent it.")
    write_set(project / "cases.evalset.json", echo, case("seats", "book", answer="The table costs $30."))
    notice, *lines = in_this_process("audit", "cases.evalset.json", "--format", "github").stdout.splitlines()
    assert notice.startswith("::notice title=Proctor%3A audit::Catches ")
    error = "::error file=cases.evalset.json,line=4,title=an agent that does nothing passes%3A echo::echo"
    assert next(line for line in lines if "echo" in line).startswith(error)
    assert any(
        line.startswith("::warning file=cases.evalset.json,line=")
        and "title=faults survive%3A seats" in line
        and "%0Awrong amounts: " in line
        for line in lines
    )


def test_a_configuration_error_is_written_to_stdout_once() -> None:
    shown = in_this_process("audit", "cases.evalset.json", "--json", "--report", "json=-")
    assert (shown.returncode, json.loads(shown.stdout)["exit_code"]) == (2, 2)


@pytest.mark.usefixtures("built_page")
def test_a_configuration_error_replaces_the_result_of_an_earlier_audit(project: Path) -> None:
    reports = [word for name in BEGINNINGS for word in ("--report", f"{name}=audit.{name}")]
    in_this_process("audit", "cases.evalset.json", *reports)
    assert in_this_process("audit", "other.evalset.json", *reports).returncode == 2
    for name in BEGINNINGS:
        text = (project / f"audit.{name}").read_text(encoding="utf-8")
        assert "Catches" not in text, name
        assert "other.evalset.json: no such file" in text, name


REFUSED = {
    "an unknown name": (("--report", "jsn=a.json"), "no audit report is called 'jsn'. Did you mean 'json'?"),
    "no path": (("--report", "json"), "--report takes NAME=PATH"),
    "a file that is kept": (("--report", "json=test_config.json"), "by its name test_config.json is a config"),
    "the page of a case": (("--case", "seats", "--format", "html"), "--report html shows an audit that is kept"),
    "the page of no audit": (("--store", "memory:", "--format", "html"), "--report html shows an audit that is kept"),
}  # fmt: skip


@pytest.mark.usefixtures("built_page")
@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_a_report_that_cannot_be_written_is_refused_before_the_audit(
    arguments: tuple[str, ...], message: str, project: Path
) -> None:
    shown = in_this_process("audit", "cases.evalset.json", *arguments)
    assert shown.returncode == 2
    assert message in shown.stderr
    assert not (project / ".proctor").exists()


def test_a_config_that_decides_nothing_is_not_a_success(project: Path) -> None:
    blind = {"tool_trajectory_avg_score": {"threshold": 1, "gate": False}}
    (project / "test_config.json").write_text(json.dumps({"criteria": blind}))
    shown = in_this_process("audit", "cases.evalset.json")
    assert shown.returncode == 3
    assert "nothing was measured" in shown.stdout
    assert "nothing decides it" in shown.stdout
    assert "`gate` is false: tool_trajectory_avg_score" in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("none.evalset.json",),
        ("cases.evalset.json", "--case", "seats", "--judge", "scripted:judge.json"),
        ("cases.evalset.json", "--mutants", "typos"),
        ("cases.evalset.json", "--mutants", ","),
        ("cases.evalset.json", "--baseline", "cases.evalset.json"),
        ("cases.evalset.json", "--baseline", "none.json"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    shown = in_this_process("audit", *arguments)
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr


@pytest.mark.slow
def test_a_worse_audit_than_the_baseline_fails_and_names_what_is_lost(project: Path) -> None:
    (project / "test_config.json").write_text(json.dumps({"criteria": {"exact_match": 1}}))
    (project / "main.json").write_text(in_this_process("audit", "cases.evalset.json", "--json").stdout)
    same = in_this_process("audit", "cases.evalset.json", "--baseline", "main.json")
    assert same.returncode == 0
    assert same.stdout.startswith(
        "This change lowers nothing: every mutant that main.json caught is still caught"
    )
    (project / "test_config.json").write_text(json.dumps({"criteria": {"response_match_score": 0.5}}))
    worse = in_this_process("audit", "cases.evalset.json", "--baseline", "main.json", "--format", "markdown")
    assert worse.returncode == 1
    assert worse.stdout.startswith("**This change lowers what the set catches: ")
    assert "| wrong amounts | 1/1 | 0/1 |" in worse.stdout
    data = json.loads(
        in_this_process("audit", "cases.evalset.json", "--baseline", "main.json", "--json").stdout
    )
    assert data["baseline"]["is_worse"] is True
    assert data["baseline"]["lost"][0]["eval_id"] == "seats"


def test_a_survivor_is_shown_with_what_was_recorded_and_why_the_case_passes() -> None:
    shown = in_this_process("audit", "cases.evalset.json", "--case", "seats").stdout
    assert "seats (cases.evalset.json:" in shown.splitlines()[0]
    assert "No agent was called" in shown
    number = shown[shown.index(": wrong numbers: '4'") :]
    assert number.index("expected: The table is booked for [-4-]") < number.index(
        "actual: The table is booked for {+"
    )
    assert "passes: tool_trajectory_avg_score 1.00 (needs 1), response_match_score 0." in number


def test_agents_that_pass_are_counted_apart_from_the_mutants_that_survive() -> None:
    Path("loose.json").write_text(json.dumps({"criteria": {"response_match_score": 0.0001}}))
    shown = in_this_process("audit", "cases.evalset.json", "--config", "loose.json", "--case", "seats").stdout
    data = json.loads(
        in_this_process("audit", "cases.evalset.json", "--config", "loose.json", "--json").stdout
    )
    agents = {each["name"] for each in data["operators"] if each["family"] == "agents"}
    (found,) = [each for each in data["sets"][0]["cases"] if each["eval_id"] == "seats"]
    idle = [each["fate"] == "survived" for each in found["mutants"] if each["operator"] in agents]
    fates = [each["fate"] == "survived" for each in found["mutants"] if each["operator"] not in agents]
    assert sum(idle)
    counts = f"{sum(fates)} of {len(fates)} mutants survive, and {sum(idle)} of {len(idle)} agents"
    assert counts in shown.splitlines()[0]


def test_evidence_in_json_is_marked_as_a_mutant_and_no_store_has_it(project: Path) -> None:
    before = sorted(project.rglob("*"))
    data = json.loads(in_this_process("audit", "cases.evalset.json", "--case", "seats", "--json").stdout)
    survived = [each for each in data["sets"][0]["cases"][0]["mutants"] if each["fate"] == "survived"]
    assert [each["mutant"]["fault"] for each in data["evidence"]] == [each["fault"] for each in survived]
    for each in data["evidence"]:
        assert each["turns"][0]["expected"] != each["turns"][0]["mutated"]
        assert each["metrics"]["response_match_score"]["score"] >= 0.8
    assert sorted(project.rglob("*")) == before


def test_the_mutants_of_a_case_that_does_not_exist_are_a_configuration_error() -> None:
    shown = in_this_process("audit", "cases.evalset.json", "--case", "seat")
    assert shown.returncode == 2
    assert "no case 'seat' in these sets. Did you mean 'seats'?" in shown.stderr


def test_a_change_is_proposed_in_a_line_and_ready_to_paste_with_verbose() -> None:
    line = next(
        line
        for line in in_this_process("audit", "cases.evalset.json").stdout.splitlines()
        if '"numeric_match": 1.0' in line
    )
    assert " of " in line
    shown = in_this_process("audit", "cases.evalset.json", "-v").stdout
    assert '"numeric_match": 1.0' in shown[shown.index('"criteria": {') :]


SCRIPT = [{"when": ["$30", "4 people"], "say": {"verdict": "valid", "rationale": "same"}}, {"when": ["answer"], "say": {"verdict": "invalid", "rationale": "other"}}]  # fmt: skip


@pytest.fixture
def judged(project: Path) -> str:
    """A config with a judged criterion, and the name of a scripted judge."""
    vote = {"threshold": 1, "judge_model_options": {"num_samples": 1}}
    (project / "judged.json").write_text(json.dumps({"criteria": {"final_response_match_v2": vote}}))
    (project / "judge.json").write_text(json.dumps(SCRIPT))
    return "scripted:judge.json"


def test_the_number_of_calls_is_printed_before_a_judge_is_asked(judged: str) -> None:
    shown = in_this_process(
        "audit", "cases.evalset.json", "--config", "judged.json", "--judge", judged, "--max-judge-calls", "9"
    )
    assert shown.returncode == 0
    assert "judges: " in shown.stderr
    assert "(--max-judge-calls 9)" in shown.stderr
    assert "`final_response_match_v2` (scripted:judge.json" in shown.stdout
    assert "true negative rate" in shown.stdout


def test_a_judge_without_a_judged_criterion_is_a_configuration_error(judged: str) -> None:
    shown = in_this_process("audit", "cases.evalset.json", "--judge", judged)
    assert shown.returncode == 2
    assert "no criterion of these sets asks a judge" in shown.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--case", "seats"),
        ("--baseline", "before.json"),
        ("--config", "judged.json", "--judge", "scripted:judge.json", "--agent", f"cmd:{sys.executable} agent.py"),
    ],
)  # fmt: skip
def test_json_follows_its_schema_and_every_key_is_described(
    project: Path, arguments: tuple[str, ...]
) -> None:
    schema = json.loads((ROOT / "docs/schemas/audit.schema.json").read_text(encoding="utf-8"))
    (project / "before.json").write_text(in_this_process("audit", "cases.evalset.json", "--json").stdout)
    data = json.loads(in_this_process("audit", "cases.evalset.json", "--json", *arguments).stdout)
    jsonschema.validate(data, closed(schema))
    assert ("baseline" in data) is ("--baseline" in arguments)
