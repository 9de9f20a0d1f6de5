"""google-adk's side of the workloads; runs in its own environment (see `peers.py`).

python -m benchmarks.peer_adk evaluate CASES exact|rouge
python -m benchmarks.peer_adk wait CASES CONCURRENCY SECONDS
python -m benchmarks.peer_adk load FILE
python -m benchmarks.peer_adk store FOLDER CASES
"""

from __future__ import annotations

import asyncio
import gc
import shutil
import sys
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from benchmarks import workload

warnings.simplefilter("ignore")

APP = "scripted"
METRICS = {"exact": {"tool_trajectory_avg_score": 1.0}}
METRICS["rouge"] = {**METRICS["exact"], "response_match_score": 0.8}


def scripted_agent(seconds: float = 0.0) -> Any:
    """The scripted agent as a BaseAgent: no model, the same three events."""
    from google.adk.agents import BaseAgent
    from google.adk.events import Event
    from google.genai import types

    class Scripted(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> AsyncIterator[Any]:
            if seconds:
                await asyncio.sleep(seconds)
            place = workload.asked_city(ctx.user_content.parts[0].text)
            call = types.FunctionCall(id="1", name=workload.TOOL, args=workload.arguments(place))
            answer = types.FunctionResponse(id="1", name=workload.TOOL, response=dict(workload.RESPONSE))
            yield self._event(ctx, "model", types.Part(function_call=call))
            yield self._event(ctx, "user", types.Part(function_response=answer))
            yield self._event(ctx, "model", types.Part(text=workload.answer_text(place)))

        def _event(self, ctx: Any, role: str, part: Any) -> Any:
            content = types.Content(role=role, parts=[part])
            return Event(author=self.name, invocation_id=ctx.invocation_id, content=content)

    return Scripted(name="scripted")


async def run(
    document: dict[str, Any], metric: str, concurrency: int, seconds: float = 0.0, *, quiet: bool = False
) -> list[Any]:
    """Infer, then evaluate, both as the command line of google-adk does; return the result of each case."""
    from google.adk.evaluation.base_eval_service import (
        EvaluateConfig,
        EvaluateRequest,
        InferenceConfig,
        InferenceRequest,
    )
    from google.adk.evaluation.eval_metrics import EvalMetric
    from google.adk.evaluation.eval_set import EvalSet
    from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
    from google.adk.evaluation.local_eval_service import LocalEvalService

    manager = InMemoryEvalSetsManager()
    given = EvalSet.model_validate(document)
    manager.create_eval_set(APP, given.eval_set_id)
    for case in given.eval_cases:
        manager.add_eval_case(APP, given.eval_set_id, case)
    watch = workload.Stopwatch()
    service = LocalEvalService(root_agent=scripted_agent(seconds), eval_sets_manager=manager)
    config = InferenceConfig(parallelism=concurrency)
    request = InferenceRequest(app_name=APP, eval_set_id=given.eval_set_id, inference_config=config)
    inferences = [one async for one in service.perform_inference(inference_request=request)]
    metrics = [EvalMetric(metric_name=name, threshold=least) for name, least in METRICS[metric].items()]
    asked = EvaluateRequest(
        inference_results=inferences,
        evaluate_config=EvaluateConfig(eval_metrics=metrics, parallelism=concurrency),
    )
    results = [one async for one in service.evaluate(evaluate_request=asked)]
    if not quiet:
        workload.report(**watch.stop(), failed=_failed(results))
    return results


def _failed(results: list[Any]) -> int:
    return sum(one.final_eval_status.name == "FAILED" for one in results)


def evaluate(cases: int, metric: str) -> None:
    """W2 at a size that google-adk does in seconds."""
    asyncio.run(run(workload.eval_set(5), metric, 4))
    failed = _failed(asyncio.run(run(workload.eval_set(cases), metric, 4)))
    if failed != workload.expected_failures(cases):
        sys.exit(f"{failed} of {cases} cases failed")


def load(path: str) -> None:
    """W5 with google-adk's own loader."""
    from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file

    watch = workload.Stopwatch()
    load_eval_set_from_file(path, "large")
    workload.report(**watch.stop())


def store(folder: str, cases: int) -> None:
    """W7 with google-adk's files: results of some real cases, repeated, with separate ids.

    The cases name the app, as those do that google-adk's own page writes: only then its results have `session_details`,
    and what it reads back is all of the evidence.
    """
    from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

    some = asyncio.run(run(workload.eval_set(20, app=APP), "rouge", 4, quiet=True))
    if any(one.session_details is None for one in some):
        sys.exit("the results have no session_details")
    results = [
        some[case % len(some)].model_copy(update={"eval_id": f"case_{case}"}, deep=True)
        for case in range(cases)
    ]
    manager = LocalEvalSetResultsManager(agents_dir=folder)
    gc.freeze()
    watch = workload.Stopwatch()
    manager.save_eval_set_result(APP, "scripted", results)
    written = watch.stop()
    (name,) = manager.list_eval_set_results(APP)
    watch = workload.Stopwatch()
    back = manager.get_eval_set_result(APP, name)
    read = watch.stop()
    if _failed(back.eval_case_results) != workload.expected_failures(cases):
        sys.exit("not the same cases failed")
    (file,) = Path(folder).rglob("*.evalset_result.json")
    size = file.stat().st_size / cases
    shutil.rmtree(folder)
    times = {
        "write": written["cpu"],
        "write_wall": written["wall"],
        "read": read["cpu"],
        "read_wall": read["wall"],
    }
    workload.report(bytes=size, **times)


def main(words: list[str]) -> None:
    """Run the workload named by the first word."""
    match words:
        case ["evaluate", cases, metric]:
            evaluate(int(cases), metric)
        case ["wait", cases, concurrency, seconds]:
            asyncio.run(run(workload.eval_set(2), "exact", 4))
            asyncio.run(run(workload.eval_set(int(cases)), "exact", int(concurrency), float(seconds)))
        case ["load", path]:
            load(path)
        case ["store", folder, cases]:
            store(folder, int(cases))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
