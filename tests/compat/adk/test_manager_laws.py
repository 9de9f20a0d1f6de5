"""For any operations, a folder and memory hold the same eval sets, and google-adk's rules hold in both."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.eval_case import EvalCase
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager

APP = "app"
SETS = st.sampled_from(["a", "b_1", "C"])
CASES = st.sampled_from(["x", "y/z", "ünï", ""])
TEXTS = st.text(max_size=20).filter(lambda text: "\0" not in text and text.isprintable())


def case(eval_id: str, text: str) -> EvalCase:
    turn = {"user_content": {"role": "user", "parts": [{"text": text}]}}
    return EvalCase.model_validate({"eval_id": eval_id, "conversation": [turn]})


class SetsMachine(RuleBasedStateMachine):
    """The same operations on both managers have the same outcome."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / APP).mkdir()
        self.managers = (InMemoryEvalSetsManager(), LocalEvalSetsManager(self.folder))

    def both(self, method: str, *arguments: Any) -> Any:
        memory, folder = (_outcome(manager, method, *arguments) for manager in self.managers)
        assert memory == folder, (method, arguments)
        return memory

    @rule(eval_set_id=SETS)
    def create(self, eval_set_id: str) -> None:
        there = eval_set_id in self.both("list_eval_sets", APP)
        assert (self.both("create_eval_set", APP, eval_set_id) == "ValueError") is there

    @rule(eval_set_id=SETS, eval_id=CASES, text=TEXTS)
    def add(self, eval_set_id: str, eval_id: str, text: str) -> None:
        before = self.both("get_eval_case", APP, eval_set_id, eval_id)
        outcome = self.both("add_eval_case", APP, eval_set_id, case(eval_id, text))
        if before is not None:
            assert outcome == "ValueError"
        elif outcome is None:
            assert self.both("get_eval_case", APP, eval_set_id, eval_id) == case(eval_id, text)
        else:
            assert outcome == "NotFoundError"

    @rule(eval_set_id=SETS, eval_id=CASES, text=TEXTS)
    def update(self, eval_set_id: str, eval_id: str, text: str) -> None:
        there = self.both("get_eval_case", APP, eval_set_id, eval_id) is not None
        outcome = self.both("update_eval_case", APP, eval_set_id, case(eval_id, text))
        assert (outcome is None) is there

    @rule(eval_set_id=SETS, eval_id=CASES)
    def delete(self, eval_set_id: str, eval_id: str) -> None:
        there = self.both("get_eval_case", APP, eval_set_id, eval_id) is not None
        assert (self.both("delete_eval_case", APP, eval_set_id, eval_id) is None) is there
        assert self.both("get_eval_case", APP, eval_set_id, eval_id) is None

    @invariant()
    def cases_are_the_same_in_the_same_order(self) -> None:
        if not hasattr(self, "managers"):
            return
        for eval_set_id in ("a", "b_1", "C"):
            memory, folder = (manager.get_eval_set(APP, eval_set_id) for manager in self.managers)
            assert (memory is None) is (folder is None)
            if memory is not None and folder is not None:
                assert memory.eval_cases == folder.eval_cases
        assert not [one for one in (self.folder / APP).iterdir() if not one.name.endswith(".evalset.json")]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def _outcome(manager: Any, method: str, *arguments: Any) -> Any:
    """Return the answer, or the kind of refusal; names and times of new sets differ."""
    try:
        answer = getattr(manager, method)(*arguments)
    except NotFoundError:
        return "NotFoundError"
    except ValueError:
        return "ValueError"
    if method == "create_eval_set":
        return answer.eval_set_id
    return sorted(answer) if method == "list_eval_sets" else answer


TestSets = SetsMachine.TestCase
TestSets.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
