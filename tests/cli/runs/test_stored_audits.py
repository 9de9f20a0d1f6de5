"""An audit in a store: a run of the kind `audit` whose trials are mutants, which no list or figure of real runs contains."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import proctor
from proctor.authoring.audit import stored_audit
from proctor.authoring.audit.audit_report import audit_data
from proctor.authoring.audit.stored_audit import load_audit, proposals_of
from proctor.runs.storage.open import open_store
from proctor.schema.analysis.audit_result import Proposal
from proctor.schema.results.run_result import RunKind
from proctor.stores.base import Store
from proctor.stores.sql.store import SqlStore
from tests.cli.project import case, in_this_process, make_project


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    answer = "The table is booked for 4 people and costs $30."
    return make_project(tmp_path, case("seats", "book", answer=answer), case("menu", "read", answer="Soup."))


def audit(*arguments: str) -> str:
    """Audit the set, and return the id of the stored audit."""
    shown = in_this_process("audit", "cases.evalset.json", "--json", *arguments)
    return str(json.loads(shown.stdout)["run_id"])


def run() -> str:
    """Play the recorded conversations as a run, and return its id."""
    assert in_this_process("eval", "replay", "cases.evalset.json").returncode == 0
    return proctor.list_runs()[0].run_id


REFUSING = {
    "compare, as the candidate": "compare latest AUDIT",
    "compare, as the baseline": "compare AUDIT latest",
    "baseline": "baseline set main AUDIT",
    "score": "score AUDIT",
    "resume": "resume AUDIT",
    "bless": "bless AUDIT --yes",
    "the cases that failed": "eval replay cases.evalset.json --failed AUDIT",
    "a run until it is decided": "eval replay cases.evalset.json --num-runs 3 --until-decided --against AUDIT",
    "labels": "judge label AUDIT seats --pass",
    "calibration": "judge calibrate AUDIT",
    "plan": "plan AUDIT",
}


def test_no_command_takes_an_audit_for_a_run() -> None:
    run()
    kept = audit()
    for what, command in REFUSING.items():
        shown = in_this_process(*command.replace("AUDIT", kept).split())
        assert shown.returncode == 2, what
        assert f"{kept} is an audit" in shown.stderr, what


def test_lists_of_runs_leave_audits_out() -> None:
    real, kept = run(), audit()
    assert [one.run_id for one in proctor.list_runs()] == [real]
    assert [one.run_id for one in proctor.list_runs(kind="audit")] == [kept]
    assert kept[:6] not in in_this_process("runs").stdout
    assert kept[:6] not in in_this_process("history").stdout
    assert real[:6] in in_this_process("show", "latest").stdout
    shown = in_this_process("runs", "--kind", "audit").stdout
    assert shown.startswith(f"AUDIT  {kept[:6]}")
    assert shown.count("\n") == 1


def test_a_store_with_audits_alone_has_no_runs() -> None:
    audit()
    assert "only audits (--kind audit)" in in_this_process("runs").stderr
    assert "has no runs yet" in in_this_process("show", "latest").stderr


def test_show_repeats_the_audit_and_a_case_shows_what_survives(project: Path) -> None:
    printed = in_this_process("audit", "cases.evalset.json").stdout
    (stored,) = proctor.list_runs(kind=RunKind.AUDIT)
    assert in_this_process("show", stored.run_id).stdout == printed
    of_case = in_this_process("show", stored.run_id, "seats").stdout
    assert of_case == in_this_process("audit", "cases.evalset.json", "--case", "seats").stdout
    assert "wrong numbers: '4' → " in of_case
    assert "passes: tool_trajectory_avg_score 1.00" in of_case


def test_every_trial_is_marked_as_a_mutant_and_survivors_have_their_turns_and_scores() -> None:
    kept = audit()
    with closing(open_store()) as store:
        result = store.load(kept)
        assert result.cases[0].reason.endswith("mutants survive")
        for case_result in result.cases:
            for trial in case_result.trials:
                evidence, scores = trial.trial, case_result.metrics.get("response_match_score")
                assert evidence is not None
                assert evidence.mutation is not None
                survives = evidence.mutation.fate == "survived"
                assert bool(evidence.turns) is survives is (not trial.outcome)
                if survives and scores is not None:
                    assert scores.per_trial[trial.number] is not None


def test_reason_of_a_stored_case_counts_agents_apart_from_mutants() -> None:
    Path("loose.json").write_text(json.dumps({"criteria": {"response_match_score": 0.0001}}))
    kept = audit("--config", "loose.json")
    with closing(open_store(None)) as store:
        reasons = {one.eval_id: one.reason for _, one in store.verdicts(kept, 1)}
        found = load_audit(store, kept)
    (seats,) = [one for one in found.cases if one.eval_id == "seats"]
    agents = sum(one.operator in found.agent_names for one in seats.mutants)
    assert re.fullmatch(
        rf"\d+ of \d+ mutants survive, and \d+ of {agents} agents that do nothing pass", reasons["seats"]
    )


@pytest.mark.parametrize("form", ["json", "markdown", "text"])
def test_export_marks_every_mutant(form: str) -> None:
    kept = audit()
    exported = in_this_process("export", kept, "--format", form).stdout
    if form == "json":
        found = json.loads(exported)
        survivors = [
            m for s in found["sets"] for c in s["cases"] for m in c["mutants"] if m["fate"] == "survived"
        ]
        assert len(found["evidence"]) == len(survivors) > 0
        assert all(each["mutant"]["fault"] for each in found["evidence"])
    else:
        assert "wrong numbers" in exported


@pytest.mark.parametrize("form", ["junit", "adk", "csv"])
def test_reports_of_runs_do_not_take_mutants(form: str) -> None:
    kept = audit()
    shown = in_this_process("export", kept, "--format", form)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert (
        f"{kept} is an audit: expected --format json, markdown, md, github, text, html, got {form}"
        in shown.stderr
    )


@pytest.mark.parametrize(
    "arguments", [["--store", "memory:"], ["--case", "seats"]], ids=["memory:", "--case"]
)
def test_an_audit_need_not_be_kept(arguments: list[str], project: Path) -> None:
    assert audit(*arguments) == "None"
    assert not (project / ".proctor").exists()


def test_a_case_that_contradicts_itself_and_a_scenario_are_kept_with_the_reason(project: Path) -> None:
    scenario = {
        "eval_id": "talk",
        "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Ask."},
    }
    wrong = case("wrong", "book", answer="Yes.") | {"final_session_state": {"a": 1}}
    (project / "s.evalset.json").write_text(
        json.dumps({"eval_set_id": "s", "eval_cases": [wrong, scenario]}), encoding="utf-8"
    )
    config = {"criteria": {"regex_match": {"threshold": 1.0, "pattern": "No"}}}
    made = proctor.audit_sync("s.evalset.json", config=config, store="s.db")
    with closing(open_store("s.db")) as store:
        found = load_audit(store, made.run_id)
    assert json.dumps(audit_data(found)) == json.dumps(audit_data(made))
    assert [each.contradicts for each in found.cases] == [True, False]
    assert "scenario" in [*found.cases][1].problem


READS: dict[str, Callable[[Store], object]] = {
    "the list": lambda store: list(store.runs()),
    "the index": lambda store: store.index(),
    "a name": lambda store: store.find("latest"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("kind", ["run", "rum"])
def test_a_changed_kind_is_damage(kind: str, read: Callable[[Store], object]) -> None:
    kept = audit()
    with closing(sqlite3.connect(".proctor/store.sqlite3")) as raw, raw:
        raw.execute("UPDATE runs SET kind = ?", (kind,))
    with closing(open_store()) as store:
        with pytest.raises(proctor.StoreError, match="damaged"):
            store.manifest(kept)
        if kind == "rum":
            with pytest.raises(proctor.StoreError, match="damaged"):
                read(store)


def test_a_copy_of_a_store_has_its_audits_as_audits() -> None:
    kept = audit()
    assert in_this_process("import", ".proctor/store.sqlite3", "--store", "b.db").returncode == 0
    with closing(open_store("b.db")) as copied:
        assert isinstance(copied, SqlStore)
        assert copied.index() == []
        assert [one.run_id for one in copied.index(RunKind.AUDIT)] == [kept]


@pytest.mark.slow
def test_prune_counts_runs_and_audits_apart() -> None:
    first, second, real = audit(), audit(), run()
    in_this_process("prune", "--keep", "1", "--yes")
    with closing(open_store()) as store:
        assert {one.run_id for one in store.index(None)} == {second, real}
        assert first not in {one.run_id for one in store.index(None)}


LOOSE = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.5}}


def audit_line(*arguments: str) -> str:
    """Play the recorded conversations as a run, and return what it reports about an audit."""
    shown = in_this_process("eval", "replay", "cases.evalset.json", *arguments)
    return next((line for line in shown.stderr.splitlines() if line.startswith("audit: ")), "")


def test_eval_reports_a_poor_audit_in_one_line(project: Path) -> None:
    (project / "test_config.json").write_text(json.dumps(LOOSE), encoding="utf-8")
    assert audit_line() == ""
    kept = audit()
    for arguments in ([], ["--num-runs", "2"]):
        line = audit_line(*arguments)
        assert line.startswith("audit: cases.evalset.json catches "), arguments
        assert "blind to wrong numbers" in line
        assert f"(`proctor show {kept}`)" in line


def test_the_line_of_a_poor_audit_names_a_few_classes(project: Path) -> None:
    (project / "test_config.json").write_text(
        '{"criteria": {"response_match_score": 0.0001}}', encoding="utf-8"
    )
    audit("--seed", "1")
    assert re.search(r"blind to [^,]+(, [^,]+){3} and \d+ more classes", audit_line())


def test_the_audit_of_a_part_is_not_reported(project: Path) -> None:
    (project / "test_config.json").write_text(json.dumps(LOOSE), encoding="utf-8")
    audit("--mutants", "calls,wrong-number")
    assert audit_line() == ""


@pytest.mark.parametrize("changed", ["config", "cases"])
def test_the_audit_of_another_config_or_of_other_cases_is_not_reported(changed: str, project: Path) -> None:
    (project / "test_config.json").write_text(json.dumps(LOOSE), encoding="utf-8")
    audit()
    if changed == "cases":
        make_project(project, case("seats", "book", answer="It is done."))
    (project / "test_config.json").write_text(
        json.dumps({"criteria": {"response_match_score": 0.6}} if changed == "config" else LOOSE),
        encoding="utf-8",
    )
    assert audit_line() == ""


def test_a_good_audit_is_not_reported(project: Path) -> None:
    (project / "test_config.json").write_text(
        '{"criteria": {"tool_trajectory_avg_score": 1, "exact_match": 1}}', encoding="utf-8"
    )
    audit()
    assert audit_line() == ""


def test_an_audit_of_an_earlier_version_has_its_findings_among_the_options(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "test_config.json").write_text(json.dumps(LOOSE), encoding="utf-8")
    settings, findings = stored_audit._settings, stored_audit._findings
    monkeypatch.setattr(
        stored_audit, "_settings", lambda found, *rest: {**settings(found, *rest), **findings(found)}
    )
    monkeypatch.setattr(stored_audit, "_findings", lambda _: {})
    kept = audit()
    assert f"(`proctor show {kept}`)" in audit_line()
    shown = in_this_process("show", kept)
    assert (shown.returncode, shown.stdout.startswith("Catches ")) == (0, True), shown.stderr


def test_proposals_of_an_earlier_version_that_were_not_tried_are_left_out() -> None:
    proposal = {
        "where": "test_config.json",
        "change": '"numeric_match": 1.0',
        "snippet": "{}",
        "catches": 1,
        "of": 2,
    }
    stored = [{**proposal, "verified": True}, {**proposal, "verified": False}, proposal]
    assert proposals_of({"proposals": stored}) == [Proposal(**proposal)] * 2  # type: ignore[arg-type]  # plain JSON
