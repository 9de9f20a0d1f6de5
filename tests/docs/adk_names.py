"""The public names of google-adk's evaluation, and which of them Proctor has. Run as a script, this rewrites docs/reference/adk/names.md.

Names are read from google-adk's source: what a module defines, or re-exports on purpose, and the members of its classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "adk" / "names.md"
MIRROR = "proctor.compat.adk."

OWN_PROMPTS = "Proctor's judge has its own prompts and reads structured answers; subclass `LlmAsJudge` or `RubricBasedEvaluator` for yours"
VALIDATOR = "a validator that pydantic calls, not users; Proctor's model has its own"
ENGINE = "Proctor's engine runs the agent: `LocalEvalService.perform_inference`, or `proctor.evaluate`"
AUDIO = "the simulated user of Proctor writes text; there is no live mode"

ABSENT = {
    "evaluation.conversation_scenarios:ConversationScenario.validate_user_persona": VALIDATOR,
    "evaluation.eval_case:EvalCase.ensure_conversation_xor_conversation_scenario": VALIDATOR,
    "evaluation.evaluation_generator:EvalCaseResponses": ENGINE,
    "evaluation.evaluation_generator:EvaluationGenerator": ENGINE,
    "evaluation.final_response_match_v2:FinalResponseMatchV2Evaluator.aggregate_invocation_results": OWN_PROMPTS,
    "evaluation.final_response_match_v2:FinalResponseMatchV2Evaluator.aggregate_per_invocation_samples": OWN_PROMPTS,
    "evaluation.final_response_match_v2:FinalResponseMatchV2Evaluator.convert_auto_rater_response_to_score": OWN_PROMPTS,
    "evaluation.final_response_match_v2:FinalResponseMatchV2Evaluator.format_auto_rater_prompt": OWN_PROMPTS,
    "evaluation.llm_as_judge_utils:build_judge_request_config": "Proctor's models call no functions, so there is nothing to switch off",
    "evaluation.rubric_based_final_response_quality_v1:RubricBasedFinalResponseQualityV1Evaluator.format_auto_rater_prompt": OWN_PROMPTS,
    "evaluation.rubric_based_multi_turn_trajectory_evaluator:RubricBasedMultiTurnTrajectoryEvaluator.format_auto_rater_prompt": OWN_PROMPTS,
    "evaluation.rubric_based_tool_use_quality_v1:RubricBasedToolUseV1Evaluator.format_auto_rater_prompt": OWN_PROMPTS,
    "evaluation.simulation:LlmAudioUserSimulatorConfig": AUDIO,
    "evaluation.simulation.llm_backed_user_simulator:LlmBackedUserSimulatorConfig.validate_custom_instructions": VALIDATOR,
    "evaluation.simulation.llm_backed_user_simulator_prompts:get_llm_backed_user_simulator_prompt": "the simulated user has Proctor's prompt; `custom_instructions` replaces it",
    "evaluation.simulation.llm_backed_user_simulator_prompts:is_valid_user_simulator_template": "`proctor check` and a run check `custom_instructions`",
    "evaluation.simulation.per_turn_user_simulator_quality_prompts:get_per_turn_user_simulator_quality_prompt": OWN_PROMPTS,
    "evaluation.simulation.user_simulator:NextUserMessage.ensure_user_message_iff_success": VALIDATOR,
}
"""Names that Proctor does not have, and why; that of a class includes its members."""

HEAD = """# Names of google-adk's evaluation

This page lists the public names of google-adk {version} in `google.adk.evaluation`, `google.adk.evaluation.simulation` and
`google.adk.cli.cli_eval`. *here* means that `proctor.compat.adk` has the name in the same module
([move tests](../../how-to/migrate/google-adk.md)). A class that is here has all public members, except those that the table lists. `make
adk-names` writes this page. A test fails if google-adk has a name that is neither here nor listed with a reason.
"""


def names() -> list[str]:
    """Return `module:name` and `module:Class.member` of everything public in the installed google-adk, in its order."""
    return [
        f"{module}:{name}" for module, source in _sources() for name in _defined(module, ast.parse(source))
    ]


def is_here(name: str) -> bool:
    """Tell whether `proctor.compat.adk` has a name under the same module."""
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(MIRROR + module)
    except ModuleNotFoundError:
        return False
    for part in path.split("."):
        if hasattr(found, part):
            found = getattr(found, part)
        else:
            return part in {
                **getattr(found, "model_fields", {}),
                **getattr(found, "__dataclass_fields__", {}),
            }
    return True


def reason(name: str) -> str | None:
    """Return why a name is absent: its own reason, or that of its class; `None` without one."""
    return ABSENT.get(name) or ABSENT.get(name.rpartition(".")[0])


def page() -> str:
    """Return the text of the page."""
    lines = [HEAD.format(version=metadata.version("google-adk"))]
    by_module: dict[str, list[str]] = {}
    for name in names():
        module, _, path = name.partition(":")
        by_module.setdefault(module, []).append(path)
    for module, paths in by_module.items():
        lines += [f"## `{module}`", "", "| name | |", "|---|---|"]
        for path in paths:
            name = f"{module}:{path}"
            if is_here(name):
                if "." not in path:
                    lines.append(f"| `{path}` | here |")
            elif name in ABSENT or "." not in path or is_here(name.rpartition(".")[0]):
                lines.append(f"| `{path}` | absent: {reason(name) or '?'} |")
        lines.append("")
    return "\n".join(lines)


def _sources() -> Iterator[tuple[str, str]]:
    spec = find_spec("google.adk")
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(next(iter(spec.submodule_search_locations)))
    for file in [*sorted((root / "evaluation").rglob("*.py")), root / "cli" / "cli_eval.py"]:
        if not file.name.startswith("_") or file.name == "__init__.py":
            module = ".".join(file.relative_to(root).with_suffix("").parts)
            yield module.removesuffix(".__init__"), file.read_text(encoding="utf-8")


def _defined(module: str, tree: ast.Module) -> Iterator[str]:
    seen = set()
    for name, statement in _public(tree):
        if name not in seen:
            seen.add(name)
            yield name
            if isinstance(statement, ast.ClassDef):
                yield from (f"{name}.{member}" for member, _ in _public(statement))


NOT_COUNTED = {"logger", "model_config"}


def _public(node: ast.Module | ast.ClassDef | ast.Try) -> Iterator[tuple[str, ast.stmt]]:
    for statement in node.body:
        if isinstance(statement, ast.Try):
            yield from _public(statement)
            continue
        for name in _names_of(statement):
            if not name.startswith("_") and name not in NOT_COUNTED:
                yield name, statement


def _names_of(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    if isinstance(statement, ast.Assign):
        targets = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        if targets == ["__all__"] and isinstance(statement.value, ast.List):
            return [str(one.value) for one in statement.value.elts if isinstance(one, ast.Constant)]
        return targets
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname for alias in statement.names if alias.asname and alias.asname == alias.name]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _appended(statement.value)
    return []


def _appended(call: ast.Call) -> list[str]:
    """Return the names in `__all__.append(...)`."""
    function = call.func
    if (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "__all__"
    ):
        return [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
    return []


def rewrite() -> None:
    """Make the page what the installed google-adk and Proctor have now."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
