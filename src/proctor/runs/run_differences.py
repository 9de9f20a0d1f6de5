"""Differences between two runs, other than the agent's answers, that limit a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.common.safe_text import count_text, cut_text
from proctor.schema.analysis.comparison import PASSED, Comparison, RunDifference
from proctor.schema.results.manifest import (
    UNKNOWN_MODULES,
    USER_CODE,
    JudgedSet,
    Manifest,
    MetricManifest,
    ScoringManifest,
    adds_trials,
)
from proctor.schema.results.run_result import RunResult

_MOST_NAMED = 5
_NOT_OPTIONS = frozenset({"threshold", "judge_model"})
"""Keys of a criterion that are compared separately."""
_OF_THE_FORMAT = frozenset({"judge_model_options", "rubrics"})
"""Options whose keys belong to the format. The keys of other options may be tool names and are compared as written."""
_COMPARED_BY_METRIC = frozenset({"criteria", "custom_metrics", "trials", "user_simulator_config"})
_LONGEST = 60


def find_differences(
    base: tuple[Manifest, ScoringManifest], candidate: tuple[Manifest, ScoringManifest], *, objects: str = ""
) -> list[RunDifference]:
    """Return the differences of the second run from the first, each once.

    `objects` is the manifest's placeholder for a simulated user that was a Python object: two of these cannot be compared.
    """
    differences = [
        *_agents(base[0], candidate[0]),
        *_imports(base[0], candidate[0]),
        *_users(base[0], candidate[0], objects),
        *_versions(base[0], candidate[0]),
        *_trials(base, candidate),
        *config_differences(base[1].sets, candidate[1].sets),
    ]
    return list(dict.fromkeys(differences))


def unread_differences(base: Mapping[str, str], candidate: Mapping[str, str]) -> Iterator[RunDifference]:
    """Yield the eval sets that a run could not run, by name with the cause."""
    for name, cause in {**base, **candidate}.items():
        run = (
            "either run"
            if name in base and name in candidate
            else "the baseline"
            if name in base
            else "the candidate"
        )
        yield RunDifference("set", f"{name} could not be run in {run}: {cause}")


def case_differences(
    changed: Sequence[str], only_base: Sequence[str], only_candidate: Sequence[str], *, keep_changed: bool
) -> Iterator[RunDifference]:
    """Yield the differences between the cases of both runs."""
    if changed:
        so = "paired anyway" if keep_changed else "left out"
        yield RunDifference("case", f"{_cases(changed)} changed ({so}): {_some(changed)}")
    if only_base:
        yield RunDifference("cases", f"{_cases(only_base)} only in the baseline: {_some(only_base)}")
    if only_candidate:
        yield RunDifference(
            "cases", f"{_cases(only_candidate)} only in the candidate: {_some(only_candidate)}"
        )


def stopping_differences(comparison: Comparison) -> Iterator[RunDifference]:
    """Yield the runs whose trials were added until a decision other than this comparison."""
    for word, run in (("baseline", comparison.base), ("candidate", comparison.candidate)):
        if run.most and comparison.look is None:
            until = f"it was decided against run {run.against}" if run.against else "each case was decided"
            yield RunDifference(
                "trials",
                f"trials of the {word} were added until {until}: this makes its pass rates, and the differences, a little too large",
            )


def _cases(names: Sequence[str]) -> str:
    return "1 case is" if len(names) == 1 else f"{len(names):,} cases are"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


RESCORED = 0
"""The number of an unknown scoring pass: that of a result in memory that was re-scored."""


def manifest_of_result(run: RunResult) -> tuple[Manifest, ScoringManifest]:
    """Return the manifest and the scoring record of a result that is in no store."""
    from proctor.schema.results.manifest import AgentManifest, SetManifest

    sets = [
        SetManifest(eval_set_id=one.eval_set_id, path=one.path, failure=one.failure, num_runs=one.num_runs)
        for one in run.sets
    ]
    judged = [
        JudgedSet(eval_set_id=one.eval_set_id, config={"criteria": {**one.criteria}}) for one in run.sets
    ]
    manifest = Manifest(
        run_id=run.run_id,
        created_at=run.started_at,
        agent=AgentManifest(label=run.agent),
        sets=sets,
        num_runs=run.num_runs,
        options={"until_decided": bool(run.at_most)},
    )
    return manifest, ScoringManifest(number=1 if run.scoring_duration is None else RESCORED, sets=judged)


# --- agents, users, versions and trials -------------------------------------------------------------------------------


def _agents(before: Manifest, now: Manifest) -> Iterator[RunDifference]:
    if before.agent.label != now.agent.label:
        yield RunDifference(
            "agent", f"the agent was {before.agent.label} and is {now.agent.label}", expected=True
        )
    elif changed := before.agent.source_change(now.agent):
        yield RunDifference("agent", changed, expected=True)
    elif before.agent.version != now.agent.version:
        was, is_now = before.agent.version or "unknown", now.agent.version or "unknown"
        yield RunDifference("agent", f"the agent's version was {was} and is {is_now}", expected=True)
    elif before.agent.description and now.agent.description not in (None, before.agent.description):
        what = f"the agent {now.agent.label} describes itself differently (instructions or tools)"
        yield RunDifference("agent", what, expected=True)


def knows_cases(before: Manifest, now: Manifest) -> bool:
    """Return whether the hashes of cases are comparable. An imported run hashes each case as its file describes it."""
    return bool(before.imported_from) == bool(now.imported_from)


def _imports(before: Manifest, now: Manifest) -> Iterator[RunDifference]:
    if not knows_cases(before, now):
        yield RunDifference("case", "one of the runs was imported: whether a case was changed is not known")


def _users(before: Manifest, now: Manifest, objects: str) -> Iterator[RunDifference]:
    was, is_now = before.options.get("user"), now.options.get("user")
    if was != is_now and objects not in {was, is_now}:
        model = "the config's model"
        yield RunDifference("user", f"the simulated user was {was or model} and is {is_now or model}")
    elif was == is_now:
        codes = before.options.get(USER_CODE), now.options.get(USER_CODE)
        if all(codes) and codes[0] != codes[1]:
            yield RunDifference("user", f"the code of the simulated user {was} has changed")


def _versions(before: Manifest, now: Manifest) -> Iterator[RunDifference]:
    for package in {**before.versions, **now.versions}:
        was, is_now = before.versions.get(package), now.versions.get(package)
        if was and is_now and was != is_now:
            yield RunDifference("version", f"{package} was {was} and is {is_now}")


def _trials(
    before: tuple[Manifest, ScoringManifest], now: tuple[Manifest, ScoringManifest]
) -> Iterator[RunDifference]:
    there = {one.eval_set_id: one.num_runs for one in before[0].sets}
    had, have = ("up to " * adds_trials(*one) for one in (before, now))
    for one in now[0].sets:
        was = there.get(one.eval_set_id, one.num_runs)
        if was != one.num_runs:
            numbers = f"{had}{count_text(was, 'trial')} and have {have}{count_text(one.num_runs, 'trial')}"
            yield RunDifference("trials", f"the cases of {one.eval_set_id} had {numbers}")


# --- configs and metrics ----------------------------------------------------------------------------------------------


def config_differences(before: Sequence[JudgedSet], now: Sequence[JudgedSet]) -> Iterator[RunDifference]:
    """Yield the differences in how two runs were scored."""
    for was, is_now in _common_sets(before, now):
        yield from _metrics(was, is_now)
        yield from _rest(was.config, is_now.config)


def _common_sets(
    before: Sequence[JudgedSet], now: Sequence[JudgedSet]
) -> Iterator[tuple[JudgedSet, JudgedSet]]:
    """Yield the sets that both runs have. A result in no store has only criteria; then drop the metrics of the other side, too."""
    there = {one.eval_set_id: one for one in before}
    for one in now:
        if (was := there.get(one.eval_set_id)) is not None:
            if bool(was.metrics) == bool(one.metrics):
                yield was, one
            else:
                yield was.model_copy(update={"metrics": []}), one.model_copy(update={"metrics": []})


def _metrics(before: JudgedSet, now: JudgedSet) -> Iterator[RunDifference]:
    was, is_now = _metrics_by_name(before), _metrics_by_name(now)
    for name in {**was, **is_now}:
        if name not in is_now:
            yield RunDifference("metric", f"the metric {name} was removed")
        elif name not in was:
            yield RunDifference("metric", f"the metric {name} is new")
        else:
            yield from _metric(
                name, (was[name], _criterion(before, name)), (is_now[name], _criterion(now, name))
            )
            yield from unknown_changes(name, [one for one in (was[name], is_now[name]) if one is not None])


def incomparable_metrics(before: Sequence[JudgedSet], now: Sequence[JudgedSet]) -> frozenset[str]:
    """Return what cannot be compared because it was scored differently: names of metrics, and `passed`.

    If an option, the judge, a prompt or the code of a metric differs, its scores are not comparable. Pass and fail depend on all
    metrics that decide, and also on their thresholds.
    """
    names: set[str] = set()
    for was, is_now in _common_sets(before, now):
        for name in {**_metrics_by_name(was), **_metrics_by_name(is_now)}:
            names |= _incomparable(name, was, is_now)
    return frozenset(names)


def _incomparable(name: str, before: JudgedSet, now: JudgedSet) -> set[str]:
    was, is_now = _metrics_by_name(before), _metrics_by_name(now)
    names: set[str] = set()
    if name in was and name in is_now:
        both = (was[name], _criterion(before, name)), (is_now[name], _criterion(now, name))
        kinds = {one.what for one in _metric(name, *both)}
        names |= {name} if kinds - {"threshold", "gate"} else set()
        if not kinds:
            return names
    metrics = (was.get(name), is_now.get(name))
    if any(metric.gate for metric in metrics if metric is not None) or metrics == (None, None):
        names.add(PASSED)
    return names


def _metrics_by_name(judged: JudgedSet) -> dict[str, MetricManifest | None]:
    if judged.metrics:
        return {metric.name: metric for metric in judged.metrics}
    return dict.fromkeys(judged.config.get("criteria") or {})


def _criterion(judged: JudgedSet, name: str) -> dict[str, Any]:
    criterion = (judged.config.get("criteria") or {}).get(name)
    return criterion if isinstance(criterion, dict) else {} if criterion is None else {"threshold": criterion}


_Measured = tuple[MetricManifest | None, dict[str, Any]]


def _metric(name: str, before: _Measured, now: _Measured) -> Iterator[RunDifference]:
    raw, before, now = (before[1], now[1]), (before[0], _normalize(before[1])), (now[0], _normalize(now[1]))
    differences = [*_own(name, before, now), *_options(name, before[1], now[1])]
    yield from differences
    is_told = bool(differences) or raw[0] != raw[1]  # or the same criterion is written differently
    if before[0] and now[0] and _is_other_code(before[0], now[0], is_told=is_told):
        yield RunDifference("code", f"the metric {name} is not defined as it was (its code, or a default)")


def _is_other_code(before: MetricManifest, now: MetricManifest, *, is_told: bool) -> bool:
    """Return whether a metric is computed differently. `is_told`: other reported differences explain a different definition."""
    if is_known_to_differ(before.modules, now.modules) or (
        before.code and now.code and before.code != now.code
    ):
        return True
    return not is_told and before.definition != now.definition


def _own(name: str, before: _Measured, now: _Measured) -> Iterator[RunDifference]:
    """Yield the differences that every metric can have: threshold, gate, judge and prompts."""
    was, is_now = _threshold(*before), _threshold(*now)
    if was != is_now:
        yield RunDifference("threshold", f"the threshold of {name} was {_value(was)} and is {_value(is_now)}")
    if before[0] is None or now[0] is None:
        yield from _criteria_differences(name, before[1], now[1])
        return
    if before[0].gate != now[0].gate:
        yield RunDifference(
            "gate", f"the metric {name} {'decides now' if now[0].gate else 'does not decide any more'}"
        )
    if before[0].judge != now[0].judge:
        yield RunDifference("judge", f"the judge of {name} was {before[0].judge} and is {now[0].judge}")
    elif is_known_to_differ(before[0].judge_code, now[0].judge_code):
        yield RunDifference("judge", f"the code of the judge of {name} ({now[0].judge}) changed")
    if before[0].prompts != now[0].prompts:
        yield RunDifference("prompt", f"the prompt of {name} is another one")


def _criteria_differences(
    name: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[RunDifference]:
    gates = before.get("gate", True), now.get("gate", True)
    if gates[0] != gates[1]:
        yield RunDifference(
            "gate", f"the metric {name} {'decides now' if gates[1] else 'does not decide any more'}"
        )
    was, is_now = ((one.get("judge_model_options") or {}).get("judge_model") for one in (before, now))
    if was != is_now:
        yield RunDifference("judge", f"the judge of {name} was {_value(was)} and is {_value(is_now)}")


def _normalize(criterion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a criterion with its options in the format's usual spelling, without a `gate` that is true (the default)."""
    options = {_snake(name): value for name, value in criterion.items() if name != "gate" or value is False}
    return {
        name: _normalize_keys(value) if name in _OF_THE_FORMAT else value for name, value in options.items()
    }


def _normalize_keys(value: object) -> object:
    if isinstance(value, dict):
        return {_snake(name): _normalize_keys(one) for name, one in value.items()}
    return [_normalize_keys(one) for one in value] if isinstance(value, list) else value


def _snake(name: str) -> str:
    if not (name.isidentifier() and name[0].islower()):
        return name
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _threshold(metric: MetricManifest | None, criterion: Mapping[str, Any]) -> object:
    return metric.threshold if metric is not None else criterion.get("threshold")


def _options(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[RunDifference]:
    for option, values in _value_differences(_flat(before), _flat(now)):
        yield RunDifference("option", f"the option {option} of {name} {values}")


def _value_differences(was: Mapping[str, object], is_now: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each option whose values differ, with both values. A value of false equals a missing option; 0 does not."""
    for option in {**was, **is_now}:
        values = was.get(option), is_now.get(option)
        known = [None if value is False else value for value in values]
        if known[0] != known[1]:
            yield option, f"was {_value(values[0])} and is {_value(values[1])}"


def _flat(options: Mapping[str, object], inside: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in options.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{inside}{name}.")
        elif name not in _NOT_OPTIONS:
            flat[f"{inside}{name}"] = value
    flat.pop("gate", None)
    return flat


def _rest(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[RunDifference]:
    """Yield the differences of a config outside its criteria."""
    if before.get("trials") != now.get("trials") and "trials" in {**before, **now}:
        yield from _rule(before.get("trials") or {}, now.get("trials") or {})
    was, is_now = (_flat(one.get("user_simulator_config") or {}) for one in (before, now))
    for option, values in _value_differences(was, is_now):
        yield RunDifference("user", f"{option} of the simulated user {values}")
    for name in {**before, **now}:
        if name not in _COMPARED_BY_METRIC and before.get(name) != now.get(name):
            yield RunDifference("config", f"the config's {name} has changed")


def _rule(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[RunDifference]:
    for name in {**before, **now}:
        if name != "num_runs" and before.get(name) != now.get(name):
            values = f"was {_value(before.get(name))} and is {_value(now.get(name))}"
            yield RunDifference("config", f"{name} of the config's trials {values}")


def _value(value: object) -> str:
    if value is None:
        return "not given"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return cut_text(text, _LONGEST)


# --- unknown code: metrics that may have changed unnoticed ------------------------------------------------------------


def is_known_to_differ(was: str, is_now: str) -> bool:
    """Return whether two hashes of code are known and differ."""
    return was != is_now and not {was, is_now} & {"", UNKNOWN_MODULES}


def unknown_changes(name: str, both: Sequence[MetricManifest]) -> Iterator[RunDifference]:
    """Yield the parts of a metric that may have changed unnoticed in either run: its modules, or the code of its judge."""
    if any(one.modules == UNKNOWN_MODULES for one in both):
        yield RunDifference(
            "code", f"whether the modules that the metric {name} imports changed is not known"
        )
    if any(one.judge_code == UNKNOWN_MODULES for one in both):
        yield RunDifference("judge", f"whether the code of the judge of {name} changed is not known")
