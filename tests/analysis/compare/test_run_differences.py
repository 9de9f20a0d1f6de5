"""In what two runs differ: change any one thing, and exactly that is named."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from proctor.runs.run_differences import find_differences, incomparable_metrics
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.results.manifest import (
    AgentManifest,
    JudgedSet,
    Manifest,
    MetricManifest,
    ScoringManifest,
    SetManifest,
)

JUDGED = "final_response_match_v2"


def run() -> tuple[Manifest, ScoringManifest]:
    """The manifest of a run with a judge, simulated users and a trajectory metric."""
    manifest = Manifest(
        run_id="r", created_at=0.0, num_runs=5,
        agent=AgentManifest(label="desk", source_hash="a1", description={"agent_details": {"desk": {}}}),
        sets=[SetManifest(eval_set_id="trips", num_runs=5)], options={"user": "gemini-2.5-flash"},
        versions={"python": "3.11", "proctor": "0.1.0", "openai": "2.0"},
    )  # fmt: skip
    config: dict[str, Any] = {
        "criteria": {
            JUDGED: {"threshold": 0.5, "judge_model_options": {"judge_model": "m1", "num_samples": 5}},
            "tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "EXACT"},
        },
        "trials": {"num_runs": 5, "min_pass_rate": 0.9},
        "user_simulator_config": {"model": "m2", "max_allowed_invocations": 20},
    }
    metrics = [
        MetricManifest(
            name=JUDGED, definition="d1", code="c1", threshold=0.5, judge="m1", prompts={"verdict": "p1"}
        ),
        MetricManifest(name="tool_trajectory_avg_score", definition="d2", code="c2", threshold=1.0),
    ]
    return manifest, ScoringManifest(
        sets=[JudgedSet(eval_set_id="trips", config=config, config_hash="c", metrics=metrics)]
    )


def _judge(manifest: Manifest, scoring: ScoringManifest) -> None:
    judged = scoring.sets[0]
    judged.metrics[0].judge = "m9"
    judged.metrics[0].definition = "other"
    judged.config["criteria"][JUDGED]["judge_model_options"]["judge_model"] = "m9"


def _prompt(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].metrics[0].prompts = {"verdict": "p9"}
    scoring.sets[0].metrics[0].definition = "other"


def _samples(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["criteria"][JUDGED]["judge_model_options"]["num_samples"] = 3
    scoring.sets[0].metrics[0].definition = "other"


def _option(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["criteria"]["tool_trajectory_avg_score"]["match_type"] = "IN_ORDER"
    scoring.sets[0].metrics[1].definition = "other"


def _temperature(manifest: Manifest, scoring: ScoringManifest) -> None:
    options = scoring.sets[0].config["criteria"][JUDGED]["judge_model_options"]
    options["judge_model_config"] = {"temperature": 0.0}
    scoring.sets[0].metrics[0].definition = "other"


def _user_seed(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["user_simulator_config"]["seed"] = 0


def _threshold(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["criteria"]["tool_trajectory_avg_score"]["threshold"] = 0.9
    scoring.sets[0].metrics[1].threshold = 0.9
    scoring.sets[0].metrics[1].definition = "other"


def _gate(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].metrics[1].gate = False
    scoring.sets[0].config["criteria"]["tool_trajectory_avg_score"]["gate"] = False


def _code(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].metrics[1].definition = "other"
    scoring.sets[0].metrics[1].code = "c9"


def _code_of_an_older_run(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].metrics[1].definition = "other"
    scoring.sets[0].metrics[1].code = ""


def _gone(manifest: Manifest, scoring: ScoringManifest) -> None:
    del scoring.sets[0].metrics[1]
    del scoring.sets[0].config["criteria"]["tool_trajectory_avg_score"]


def _user(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.options["user"] = "gpt-5"


def test_another_code_of_the_function_that_plays_users_is_named() -> None:
    before, after = run(), run()
    for one, code in ((before, "u1"), (after, "u2")):
        one[0].options.update({"user": "customer.py", "user_code": code})
    assert [(one.what, one.text) for one in find_differences(before, after)] == [
        ("user", "the code of the simulated user customer.py has changed")
    ]
    del before[0].options["user_code"]  # of an older run it is not known
    assert find_differences(before, after) == []
    assert incomparable_metrics(before[1].sets, after[1].sets) == frozenset()


def _user_model(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["user_simulator_config"]["model"] = "m9"


def _rule(manifest: Manifest, scoring: ScoringManifest) -> None:
    scoring.sets[0].config["trials"]["min_pass_rate"] = 0.8


def _trials(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.sets[0].num_runs = 1
    scoring.sets[0].config["trials"]["num_runs"] = 1


def _until_decided(manifest: Manifest, scoring: ScoringManifest) -> None:
    _trials(manifest, scoring)
    manifest.sets[0].num_runs = 20
    manifest.options["until_decided"] = True


def _version(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.versions["proctor"] = "0.2.0"


def _source(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.agent.source_hash = "b2"


def _description(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.agent.description = {"agent_details": {"desk": {"instructions": "Be quick."}}}


def _agent(manifest: Manifest, scoring: ScoringManifest) -> None:
    manifest.agent = AgentManifest(label="hasty", source_hash="b2", version="9")


Change = Callable[[Manifest, ScoringManifest], None]
CHANGES: list[tuple[Change, str, str]] = [
    (_judge, "judge", f"the judge of {JUDGED} was m1 and is m9"),
    (_prompt, "prompt", f"the prompt of {JUDGED} is another one"),
    (_samples, "option", f"the option judge_model_options.num_samples of {JUDGED} was 5 and is 3"),
    (
        _temperature,
        "option",
        f"the option judge_model_options.judge_model_config.temperature of {JUDGED} was not given and is 0.0",
    ),
    (_user_seed, "user", "seed of the simulated user was not given and is 0"),
    (_option, "option", "the option match_type of tool_trajectory_avg_score was EXACT and is IN_ORDER"),
    (_threshold, "threshold", "the threshold of tool_trajectory_avg_score was 1.0 and is 0.9"),
    (_gate, "gate", "the metric tool_trajectory_avg_score does not decide any more"),
    (
        _code,
        "code",
        "the metric tool_trajectory_avg_score is not defined as it was (its code, or a default)",
    ),
    (
        _code_of_an_older_run,
        "code",
        "the metric tool_trajectory_avg_score is not defined as it was (its code, or a default)",
    ),
    (_gone, "metric", "the metric tool_trajectory_avg_score was removed"),
    (_user, "user", "the simulated user was gemini-2.5-flash and is gpt-5"),
    (_user_model, "user", "model of the simulated user was m2 and is m9"),
    (_rule, "config", "min_pass_rate of the config's trials was 0.9 and is 0.8"),
    (_trials, "trials", "the cases of trips had 5 trials and have 1 trial"),
    (_until_decided, "trials", "the cases of trips had 5 trials and have up to 20 trials"),
    (_version, "version", "proctor was 0.1.0 and is 0.2.0"),
    (_source, "agent", "the source of the agent desk has changed"),
    (_description, "agent", "the agent desk describes itself differently (instructions or tools)"),
    (_agent, "agent", "the agent was desk and is hasty"),
]
HIDDEN = {
    (_gone, _option), (_gone, _threshold), (_gone, _gate), (_gone, _code), (_gone, _code_of_an_older_run),
    (_source, _agent), (_source, _description), (_description, _agent), (_code, _code_of_an_older_run), (_trials, _until_decided),
    (_option, _code_of_an_older_run), (_threshold, _code_of_an_older_run), (_gate, _code_of_an_older_run),
}  # fmt: skip
"""Of these two only one is reported: a metric or an agent is another one altogether, or too little is known."""


@pytest.mark.parametrize(
    ("change", "what", "text"), CHANGES, ids=[change.__name__.strip("_") for change, _, _ in CHANGES]
)
def test_one_change_is_named_and_nothing_else(change: Change, what: str, text: str) -> None:
    after = run()
    change(*after)
    assert [(one.what, one.text) for one in find_differences(run(), after)] == [(what, text)]


RESPELLED: dict[str, Any] = {
    "threshold": 0.5,
    "gate": True,
    "judgeModelOptions": {"judgeModel": "m1", "numSamples": 5},
}


def test_another_spelling_of_the_same_criterion_is_not_a_difference() -> None:
    after = run()
    after[1].sets[0].config["criteria"][JUDGED] = RESPELLED
    after[1].sets[0].metrics[0].definition = "other"
    assert find_differences(run(), after) == []
    assert incomparable_metrics(run()[1].sets, after[1].sets) == frozenset()


def test_a_metric_by_default_is_the_same_as_one_with_its_threshold_in_the_config() -> None:
    """A metric that the config does not name has no criterion in its definition."""
    before = run()
    del before[1].sets[0].config["criteria"]["tool_trajectory_avg_score"]
    before[1].sets[0].metrics[1].definition = "without a criterion"
    after = run()
    after[1].sets[0].config["criteria"]["tool_trajectory_avg_score"] = 1.0
    assert find_differences(before, after) == []


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("judgeModel", "m9", f"the judge of {JUDGED} was m1 and is m9"),
        ("numSamples", 3, f"the option judge_model_options.num_samples of {JUDGED} was 5 and is 3"),
    ],
)
def test_of_criteria_in_camel_case_each_change_is_named_once(option: str, value: object, text: str) -> None:
    before, after = run(), run()
    for one in (before, after):
        options = {"judgeModel": "m1", "numSamples": 5}
        one[1].sets[0].config["criteria"][JUDGED] = {**RESPELLED, "judgeModelOptions": options}
    after[1].sets[0].config["criteria"][JUDGED]["judgeModelOptions"][option] = value
    after[1].sets[0].metrics[0].definition = "other"
    if option == "judgeModel":
        after[1].sets[0].metrics[0].judge = str(value)
    assert [one.text for one in find_differences(before, after)] == [text]


def test_tools_whose_names_differ_in_their_spelling_alone_are_other_tools() -> None:
    before, after = run(), run()
    for one, tool in ((before, "bookTable"), (after, "book_table")):
        one[1].sets[0].config["criteria"]["tool_trajectory_avg_score"]["weights"] = {tool: 2}
    assert [one.text for one in find_differences(before, after)] == [
        "the option weights.bookTable of tool_trajectory_avg_score was 2 and is not given",
        "the option weights.book_table of tool_trajectory_avg_score was not given and is 2",
    ]


@pytest.mark.parametrize(
    "both",
    [
        both
        for both in combinations(CHANGES, 2)
        if {(both[0][0], both[1][0]), (both[1][0], both[0][0])}.isdisjoint(HIDDEN)
    ],
    ids=lambda both: " and ".join(change.__name__.strip("_") for change, _, _ in both),
)
def test_two_changes_are_named_both(both: tuple[tuple[Change, str, str], ...]) -> None:
    after = run()
    for change, _, _ in both:
        change(*after)
    assert {(one.what, one.text) for one in find_differences(run(), after)} == {one[1:] for one in both}


def test_metric_with_other_code_and_threshold_decides_nothing() -> None:
    before, after = run(), run()
    _threshold(*after)
    assert incomparable_metrics(before[1].sets, after[1].sets) == {PASSED}
    _code(*after)
    assert incomparable_metrics(before[1].sets, after[1].sets) == {PASSED, "tool_trajectory_avg_score"}


def test_runs_that_are_alike_differ_in_nothing() -> None:
    assert find_differences(run(), run()) == []


@pytest.mark.parametrize("kept", [True, False], ids=["the baseline is kept", "neither is"])
@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        (
            "judge_model_options",
            {"judge_model": "m9", "num_samples": 5},
            f"the judge of {JUDGED} was m1 and is m9",
        ),
        ("threshold", 0.4, f"the threshold of {JUDGED} was 0.5 and is 0.4"),
        ("gate", False, f"the metric {JUDGED} does not decide any more"),
    ],
    ids=["judge", "threshold", "gate"],
)
def test_differences_of_a_result_without_evidence_are_found_by_criteria(
    option: str, value: Any, text: str, *, kept: bool
) -> None:
    before, after = run(), run()
    for one in (after, *([] if kept else [before])):
        one[1].sets[0].metrics = []
    assert (find_differences(before, after), incomparable_metrics(before[1].sets, after[1].sets)) == (
        [],
        frozenset(),
    )
    after[1].sets[0].config["criteria"][JUDGED][option] = value
    assert [one.text for one in find_differences(before, after)] == [text]
    assert PASSED in incomparable_metrics(before[1].sets, after[1].sets)


def test_of_users_that_were_objects_nothing_is_known() -> None:
    after = run()
    after[0].options["user"] = "(an object)"
    assert find_differences(run(), after, objects="(an object)") == []


def test_set_of_one_run_only_is_not_a_difference() -> None:
    after = run()
    after[1].sets[0].eval_set_id = after[0].sets[0].eval_set_id = "others"
    assert find_differences(run(), after) == []
