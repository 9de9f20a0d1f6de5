"""The promise of `import proctor`: each name exists and has a docstring."""

import inspect
from types import ModuleType

import pytest

import proctor

ALL: list[str] = proctor.__all__
NAMES = sorted(name for name in ALL if not name.startswith("__"))

# What design.md, section 6, promises users of the format: the same names at the top.
PROMISED = """
    EvalSet EvalCase Invocation IntermediateData InvocationEvents SessionInput Content Part FunctionCall FunctionResponse
    Rubric EvalConfig PrebuiltMetrics BaseCriterion ToolTrajectoryCriterion LlmAsAJudgeCriterion RubricsBasedCriterion
    HallucinationsCriterion ConversationScenario EvalStatus EvalSetResult Event Session types
    evaluate evaluate_sync score score_sync load_eval_set
""".split()


@pytest.mark.parametrize("name", PROMISED)
def test_promised(name: str) -> None:
    assert name in ALL


@pytest.mark.parametrize("name", NAMES)
def test_exists_and_is_documented(name: str) -> None:
    thing = getattr(proctor, name)
    if inspect.isclass(thing):
        doc = vars(thing).get("__doc__")  # not the base class's
        assert doc, name
        assert not doc.startswith(f"{name}("), "a dataclass's generated signature is not a docstring"
    elif callable(thing) or isinstance(thing, ModuleType):
        assert inspect.getdoc(thing), name


def test_listed_once() -> None:
    assert sorted(set(ALL)) == sorted(ALL)


def test_dir_shows_what_loads_on_first_use() -> None:
    assert set(ALL) <= set(dir(proctor))


@pytest.mark.parametrize("missing", ["no_such_name", "_private", "utils"])
def test_a_name_that_is_not_there_is_an_attribute_error(missing: str) -> None:
    with pytest.raises(AttributeError, match=missing):
        getattr(proctor, missing)
