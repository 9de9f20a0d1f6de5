"""Modules by the names that the documentation once gave them."""

from importlib import import_module

import pytest

from proctor import api
from proctor.common.renamed_modules import RENAMED


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_gives_the_module_under_its_present_name(old: str) -> None:
    module = import_module(RENAMED[old])
    spec = module.__spec__
    assert import_module(old) is module
    assert module.__spec__ is spec


def test_the_decorator_of_metrics_has_its_old_place() -> None:
    import proctor
    from proctor.metrics.custom import metric

    assert metric is proctor.metric


def test_a_name_that_never_was_one_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_module("proctor.schema.no_such_module")


@pytest.mark.parametrize("name", ["evaluate", "eval_set_of", *api._MODULE_OF])
def test_former_module_of_the_python_api_has_all_its_names(name: str) -> None:
    assert getattr(api, name)
