"""A module that a judge or a custom metric imports is changed between two processes: no cached answer counts, and a
comparison names the difference."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # each test starts two processes

TURN = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}
SET = {"eval_set_id": "set", "eval_cases": [{"eval_id": "one", "conversation": [TURN]}]}
JUDGED = {
    "criteria": {"final_response_match_v2": {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}}
}
MEASURED = {
    "criteria": {"mine": 0.5},
    "custom_metrics": {"mine": {"code_config": {"name": "scoring.mine"}}},
}
DEPTHS = {
    "the module itself": "judging.py",
    "a module that it imports": "between.py",
    "one deeper": "helper.py",
}
FILES = {
    "judging.py": "from between import verdict\n\ndef judge(messages, options):\n    print('asked')\n"
    "    return {**options.echo, 'rationale': 'r', 'verdict': verdict()}\n",
    "scoring.py": "from between import verdict\n\ndef mine(actual, expected):\n    return 1.0 if verdict() else 0.0\n",
    "between.py": "def verdict():\n    import helper\n    return helper.VERDICT\n",
    "helper.py": "VERDICT = 'valid'\n",
    "agent.py": "def agent(text):\n    return 'a'\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(project: Path, config: dict[str, Any], body: str) -> str:
    """Run a script in the project, in a separate process; return its output."""
    script = (
        f"import json, proctor, judging\nfrom agent import agent\nSET = json.loads({json.dumps(SET)!r})\n"
    )
    script += f"CONFIG = json.loads({json.dumps(config)!r})\nstore = 'runs.sqlite3'\n{body}"
    (project / "script.py").write_text(script)
    command = [sys.executable, "-B", "script.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


EVALUATE = "r = proctor.evaluate_sync(agent, SET, config=CONFIG, store=store, judge=judging.judge)\nprint(r.outcome)\n"
SCORE_AGAIN = "r = proctor.rescore_sync('latest', store=store, judge=judging.judge)\nprint(r.outcome)\n"
COMPARE = (
    "r = proctor.evaluate_sync(agent, SET, config=CONFIG, store=store)\n"
    "c = proctor.compare_sync('previous', 'latest', store=store)\n"
    "print([one.what for one in c.unlike if not one.expected])\n"
)


def test_answers_of_an_unchanged_judge_are_cached(project: Path) -> None:
    assert run(project, JUDGED, EVALUATE).splitlines() == ["asked", "passed"]
    assert run(project, JUDGED, SCORE_AGAIN).splitlines() == ["passed"]


def change(project: Path, name: str) -> None:
    text = (project / name).read_text()
    (project / name).write_text(
        text.replace("verdict()\n", "verdict() and 'invalid'\n")
        .replace("verdict()}", "'invalid'}")
        .replace("helper.VERDICT", "'invalid'")
        .replace("'valid'", "'invalid'")
    )


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", DEPTHS.values(), ids=DEPTHS)
def test_a_judge_whose_modules_changed_is_asked_again(project: Path, name: str) -> None:
    run(project, JUDGED, EVALUATE)
    change(project, name)
    assert run(project, JUDGED, SCORE_AGAIN).splitlines() == ["asked", "failed"]


def test_answers_of_a_judge_whose_modules_are_not_known_are_not_cached(project: Path) -> None:
    (project / "between.py").write_text(
        "import importlib\nNAME = 'hel' + 'per'\n\ndef verdict():\n    return importlib.import_module(NAME).VERDICT\n"
    )
    run(project, JUDGED, EVALUATE)
    assert run(project, JUDGED, SCORE_AGAIN).splitlines() == ["asked", "passed"]
    change(project, "helper.py")
    assert run(project, JUDGED, SCORE_AGAIN).splitlines() == ["asked", "failed"]


COMPARE_JUDGED = COMPARE.replace("store=store)", "store=store, judge=judging.judge)", 1).replace(
    "one.what for one", "(one.what, one.text) for one"
)


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", ["", *DEPTHS.values()])
def test_a_judge_whose_modules_changed_is_a_difference(project: Path, name: str) -> None:
    run(project, JUDGED, EVALUATE)
    if name:
        (project / name).write_text((project / name).read_text() + "\nCHANGED = True\n")
    output = run(project, JUDGED, COMPARE_JUDGED).splitlines()[-1]
    found = [("judge", "the code of the judge of final_response_match_v2 (judge) changed")]
    assert output == str(found if name else [])


def test_a_judge_whose_modules_are_not_known_may_have_changed(project: Path) -> None:
    (project / "between.py").write_text(
        "import importlib\nNAME = 'hel' + 'per'\n\ndef verdict():\n    return importlib.import_module(NAME).VERDICT\n"
    )
    run(project, JUDGED, EVALUATE)
    output = run(project, JUDGED, COMPARE_JUDGED).splitlines()[-1]
    assert "whether the code of the judge of final_response_match_v2 changed is not known" in output


def test_a_judge_that_counts_its_calls_is_the_same_judge_in_the_next_run(project: Path) -> None:
    (project / "judging.py").write_text(
        "class Judge:\n    calls = 0\n    def __call__(self, messages, options):\n        self.calls += 1\n"
        "        return {**options.echo, 'rationale': 'r', 'verdict': 'valid'}\n\njudge = Judge()\n"
    )
    twice = EVALUATE + COMPARE_JUDGED
    assert run(project, JUDGED, twice).splitlines()[-1] == "[]"


# --- models that a package adds ---------------------------------------------------------------------------------------

ADDED = (
    "r = proctor.evaluate_sync(agent, SET, config=CONFIG, store=store, judge='mine:m')\nprint(r.outcome)\n"
)
MODEL = """
from between import verdict
from proctor.models.function import FunctionModel


def model(name):
    def answer(messages, options):
        print("asked")
        return {**options.echo, "rationale": "r", "verdict": verdict()}

    made = FunctionModel(answer)
    made.name = "mine:m"
    return made
"""


def add_package(project: Path, version: str = "1.0", named: str = "Name: mine\n") -> None:
    """Make the project provide models, as an installed package does; without `named` it has no name, and no version."""
    (project / "added.py").write_text(MODEL)
    for old in project.glob("mine-*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    info = project / f"mine-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{named}Version: {version}\n")
    (info / "entry_points.txt").write_text("[proctor.models]\nmine = added:model\n")


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("changed", ["", "version", "added.py", "between.py", "helper.py"])
def test_model_of_a_package_is_asked_again_after_a_change_of_its_code(project: Path, changed: str) -> None:
    add_package(project)
    assert run(project, JUDGED, ADDED).splitlines() == ["asked", "passed"]
    if changed == "version":
        add_package(project, "1.1")
    elif changed:
        (project / changed).write_text((project / changed).read_text() + "\nCHANGED = True\n")
    assert run(project, JUDGED, ADDED).splitlines() == (["asked", "passed"] if changed else ["passed"])
    compare = COMPARE_JUDGED.replace("judging.judge", "'mine:m'")
    assert run(project, JUDGED, compare).splitlines()[-1] == "[]"


def test_answers_of_a_model_whose_modules_are_not_known_are_not_cached(project: Path) -> None:
    add_package(project)
    (project / "between.py").write_text(
        "import importlib\nNAME = 'hel' + 'per'\n\ndef verdict():\n    return importlib.import_module(NAME).VERDICT\n"
    )
    for _ in range(2):
        assert run(project, JUDGED, ADDED).splitlines() == ["asked", "passed"]


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", ["", "scoring.py", "between.py", "helper.py"])
def test_a_custom_metric_whose_modules_changed_is_a_difference(project: Path, name: str) -> None:
    run(project, MEASURED, EVALUATE)
    if name:
        (project / name).write_text((project / name).read_text() + "\nCHANGED = True\n")
    expected = ["code"] if name else []
    assert run(project, MEASURED, COMPARE).strip() == str(expected)
