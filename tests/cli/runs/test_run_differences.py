"""By hand, through the command line: one thing is changed between two runs, and the comparison names that and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import proctor as package
from tests.cli.project import proctor, write_set

AGENT = 'def root_agent(text):\n    return f"You sent {text}"\n'
SCRIPT = [{"when": "sent", "say": {"rationale": "The content is the same.", "verdict": "valid"}}]
CONFIG = {
    "criteria": {
        "response_match_score": {"threshold": 0.8},
        "final_response_match_v2": {
            "threshold": 0.5,
            "judge_model_options": {"judge_model": "scripted:first.json", "num_samples": 1},
        },
    }
}
Change = Callable[[Path], None]


def write_all(folder: Path) -> None:
    (folder / "agent.py").write_text(AGENT)
    for name in ("first", "second"):
        (folder / f"{name}.json").write_text(json.dumps(SCRIPT))
    write_config(folder, CONFIG)
    write_cases(folder, "ann", "bob")


def write_config(folder: Path, config: object) -> None:
    (folder / "test_config.json").write_text(json.dumps(config))


def write_cases(folder: Path, *asked: str) -> None:
    cases = [
        {
            "eval_id": f"case{number}",
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": text}]},
                    "final_response": {"role": "model", "parts": [{"text": f"You sent {text}"}]},
                }
            ],
        }
        for number, text in enumerate(asked)
    ]
    write_set(folder / "words.evalset.json", *cases)


def changed(**criteria: Mapping[str, object]) -> Change:
    def change(folder: Path) -> None:
        config = json.loads(json.dumps(CONFIG))
        for name, options in criteria.items():
            config["criteria"][name] = {**config["criteria"].get(name, {}), **options}
        write_config(folder, config)

    return change


def other_agent(folder: Path) -> None:
    (folder / "agent.py").write_text(f"# a comment\n{AGENT}")


def edited(folder: Path) -> None:
    write_cases(folder, "ann", "bill")


def other_prompt(folder: Path) -> None:
    """Proctor with another prompt, as a later version may have it."""
    source = Path(package.__file__).parent
    shutil.copytree(source, folder.parent / "later" / "proctor", ignore=shutil.ignore_patterns("__pycache__"))
    prompt = (
        folder.parent / "later" / "proctor" / "metrics" / "judged" / "prompts" / "final_response_match_v2.md"
    )
    prompt.write_text(prompt.read_text() + "\nBe kind.\n")


JUDGE = {"judge_model_options": {"judge_model": "scripted:second.json", "num_samples": 1}}


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(edited, "WARNING  1 case is changed (left out): words/case1", id="case"),
        pytest.param(
            changed(response_match_score={"aggregate": "min"}),
            "WARNING  the option aggregate of response_match_score was not given and is min",
            id="metric option",
        ),
        pytest.param(
            changed(response_match_score={"threshold": 0.7}),
            "WARNING  the threshold of response_match_score was 0.8 and is 0.7",
            id="threshold",
        ),
        pytest.param(
            changed(final_response_match_v2=JUDGE), "WARNING  the judge of final_response_match_v2 was scripted:first.json",
            id="judge model",
        ),
        pytest.param(other_prompt, "WARNING  the prompt of final_response_match_v2 is another one", id="prompt"),
        pytest.param(other_agent, "DIFFERS  the source of the agent desk has changed", id="agent"),
        pytest.param(
            changed(exact_match={"threshold": 1.0}), "WARNING  the metric exact_match is new", id="metric"
        ),
        pytest.param(lambda _: None, "", id="nothing"),
    ],
)  # fmt: skip
def test_the_warning_names_exactly_what_was_changed(tmp_path: Path, change: Change, said: str) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    write_all(desk)
    first = proctor("eval", "agent.py", "words.evalset.json", cwd=desk)
    assert first.returncode == 0, first.stderr
    change(desk)
    later = tmp_path / "later"
    path = str(later) if later.exists() else ""
    # a process of its own: a forked one has the modules of this version
    second = subprocess.run(
        [sys.executable, "-m", "proctor", "eval", "agent.py", "words.evalset.json"],
        cwd=desk, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert second.returncode == 0, second.stderr
    found = proctor("compare", cwd=desk)
    lines = [line for line in found.stdout.splitlines() if line.startswith(("WARNING", "DIFFERS"))]
    assert [line[: len(said)] for line in lines] == ([said] if said else []), found.stdout
    strict = proctor("compare", "--strict", cwd=desk)
    assert (strict.returncode == 2) == said.startswith("WARNING")
