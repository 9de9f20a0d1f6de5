"""A run under way, as the page sees it: shown as it happens, cancelled, resumed; nothing lost for a client that returns."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.web.server.context import ServerContext
from proctor.web.server.http.sse import EventResponse, event
from proctor.web.server.runs.follow import Throughput
from tests.web.live_project import Server, make_project, open_gate, serving

CASES = 12
COUNT_CALLS = "number = root_agent.calls = getattr(root_agent, 'calls', -1) + 1"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of a project whose agent waits until it is let."""
    folder = make_project(tmp_path, CASES)
    with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
        yield server


class TestARunThatWasStarted:
    def test_is_reported_case_by_case_as_soon_as_each_is_decided(self, server: Server) -> None:
        run = server.start()
        events = server.listen(run)
        first = next(events)
        assert (first.name, first.data["state"], first.data["done"]) == ("progress", "running", 0)
        assert (first.data["cases"], first.data["trials_planned"], first.data["ours"]) == (CASES, CASES, True)
        open_gate(server.folder, 1)
        reported = next(one for one in events if one.name == "case").data
        assert (reported["position"], reported["eval_id"], reported["outcome"], reported["strip"]) == (
            0,
            "case_0",
            "failed",
            "f",
        )
        assert "response_match_score" in reported["why"]
        open_gate(server.folder, CASES)
        rest = list(events)
        assert sorted(one.data["position"] for one in rest if one.name == "case") == list(range(1, CASES))
        assert (rest[-1].name, rest[-1].data["state"], rest[-1].data["outcome"]) == (
            "finished",
            "finished",
            "failed",
        )

    def test_ends_with_the_numbers_of_its_page(self, server: Server) -> None:
        open_gate(server.folder, CASES)
        run = server.start(num_runs=2)
        last = [one for one in server.listen(run) if one.name == "progress"][-1].data
        page = server.wait_for(run, "finished")
        assert last["counts"] == page["counts"] == {"passed": 8, "failed": 4}
        assert (last["done"], last["trials"], last["trials_planned"]) == (CASES, 2 * CASES, 2 * CASES)

    def test_has_no_more_trials_in_flight_than_are_not_stored(self, server: Server) -> None:
        run = server.start(concurrency=3)
        events = (one.data for one in server.listen(run) if one.name == "progress")
        open_gate(server.folder, CASES - 1)
        last = next(one for one in events if one["trials"] == CASES - 1)
        open_gate(server.folder, CASES)
        assert (last["in_flight"], last["state"]) == (1, "running")

    def test_shows_the_finished_trials_of_an_undecided_case(self, server: Server) -> None:
        agent = server.folder / "gated.py"
        agent.write_text(agent.read_text().replace("number = int(text.split()[-1])", COUNT_CALLS))
        run = server.start(num_runs=3, concurrency=1)
        rows = (one.data for one in server.listen(run) if one.name == "case")
        open_gate(server.folder, 2)
        row = next(row for row in rows if row["strip"] == "rr")
        assert (row["position"], row["outcome"], row["change"], row["was"]) == (0, "not_run", None, None)
        for query in ("", "?brief=true"):
            _, page = server.ask("GET", f"/api/runs/{run}/cases{query}")
            assert [one["strip"] for one in page["items"][:2]] == ["rr", ""]
        open_gate(server.folder, 3 * CASES)
        decided = {row["position"]: row["strip"] for row in rows}
        assert decided == dict.fromkeys(range(CASES), "fpp")

    def test_is_the_command_that_is_shown(self, server: Server) -> None:
        open_gate(server.folder, CASES)
        asked = {"agent": "gated.py:root_agent", "eval_sets": [{"path": "greetings.evalset.json"}]}
        _, begun = server.ask("POST", "/api/runs", asked)
        page = server.wait_for(begun["run_id"], "finished")
        assert begun["command"].split()[1:] == page["manifest"]["command"][1:]

    def test_from_now_on_only_what_comes_is_reported(self, server: Server) -> None:
        run = server.start()
        open_gate(server.folder, 4)
        reported = server.listen(run)
        seen = list(islice((one for one in reported if one.name == "case"), 4))
        assert {one.data["position"] for one in seen} == {0, 1, 2, 3}
        later = server.listen(run, query="?from=now")
        assert next(later).name == "progress"
        open_gate(server.folder, CASES)
        rest = {one.data["position"] for one in later if one.name == "case"}
        assert rest == set(range(4, CASES))


@pytest.mark.slow
class TestComingBack:
    @pytest.mark.nightly
    def test_100_times_loses_nothing_and_shows_nothing_twice(self, tmp_path: Path) -> None:
        cases = 240
        folder = make_project(tmp_path, cases)
        with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
            run = server.start(concurrency=8)
            open_gate(folder, cases // 2)
            reported: list[int] = []
            last, ended, comings = "", False, 0
            while not ended and comings < 400:
                comings += 1
                if comings == 50:
                    open_gate(folder, cases)
                for one in server.listen(run, last=last):
                    last, ended = one.id, one.name == "finished"
                    if one.name == "case":
                        reported.append(one.data["position"])
                        if len(reported) % 2 == 0:
                            break  # the connection is gone in the middle of the run
        assert ended
        assert comings >= 100
        assert sorted(reported) == list(range(cases))

    def test_to_another_server_shows_all_from_the_start(self, server: Server) -> None:
        open_gate(server.folder, CASES)
        run = server.start()
        server.wait_for(run, "finished")
        reported = [
            one.data["position"] for one in server.listen(run, last="0badc0de-7") if one.name == "case"
        ]
        assert sorted(reported) == list(range(CASES))

    def test_to_another_server_shows_that_something_was_missed(self, server: Server) -> None:
        open_gate(server.folder, CASES)
        run = server.start()
        server.wait_for(run, "finished")
        names = [one.name for one in server.listen(run, last="0badc0de-7", query="?from=now")]
        assert names == ["reread", "progress", "finished"]

    @pytest.mark.nightly(check=1)
    @pytest.mark.parametrize("last", ["-", "x", "ffffffff-99999999999999999999", "-1", "\u00e9-1"])
    def test_with_an_id_that_is_none_is_not_an_error(self, server: Server, last: str) -> None:
        open_gate(server.folder, CASES)
        run = server.start()
        server.wait_for(run, "finished")
        heard = server.listen(run, last=last.encode().decode("latin-1"))
        assert sum(one.name == "case" for one in heard) == CASES


@pytest.mark.slow
class TestCancelling:
    def test_keeps_what_has_finished_and_the_rest_is_resumed(self, server: Server) -> None:
        run = server.start()
        open_gate(server.folder, 5)
        events = server.listen(run)
        kept = {one.data["position"] for one in islice((one for one in events if one.name == "case"), 5)}
        assert server.ask("POST", f"/api/runs/{run}/cancel") == (202, {"run_id": run})
        open_gate(server.folder, 7)  # what is under way may finish
        end = list(events)[-1]
        assert (end.name, end.data["state"], end.data["outcome"]) == ("finished", "unfinished", None)
        assert "Ctrl-C" in end.data["stopped_by"]
        page = server.wait_for(run, "unfinished")
        assert kept == {0, 1, 2, 3, 4}
        assert page["counts"]["not_run"] >= CASES - 7
        open_gate(server.folder, CASES)
        status, resumed = server.ask("POST", f"/api/runs/{run}/resume")
        assert (status, resumed["run_id"]) == (201, run)
        whole = server.wait_for(run, "finished")
        assert sum(whole["counts"].values()) == CASES
        assert "not_run" not in whole["counts"]

    def test_of_a_run_that_is_over_is_refused(self, server: Server) -> None:
        open_gate(server.folder, CASES)
        run = server.start()
        server.wait_for(run, "finished")
        for what in ("cancel", "resume"):
            status, output = server.ask("POST", f"/api/runs/{run}/{what}")
            assert status == 409
            assert "finished" in output["detail"]

    def test_of_a_run_of_another_process_is_refused_with_who_has_it(self, server: Server) -> None:
        words = ["eval", "gated.py:root_agent", "greetings.evalset.json", "--store", "runs.sqlite3"]
        other = subprocess.Popen(
            [sys.executable, "-m", "proctor", *words],
            cwd=server.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server.wait_for("latest", "running")
            status, output = server.ask("POST", "/api/runs/latest/cancel")
            assert status == 409
            assert f"process {other.pid} on" in output["detail"]
            assert server.ask("POST", "/api/runs/latest/resume")[0] == 409
            open_gate(server.folder, CASES)
            reported = list(server.listen("latest"))
            assert sum(one.name == "case" for one in reported) == CASES
            assert reported[-1].name == "finished"
        finally:
            other.wait(60)

    @pytest.mark.nightly(check=1)
    @pytest.mark.parametrize("what", ["cancel", "resume"])
    def test_of_a_run_that_is_not_there_is_not_found(self, server: Server, what: str) -> None:
        open_gate(server.folder, CASES)
        server.wait_for(server.start(), "finished")
        assert server.ask("POST", f"/api/runs/unknown/{what}")[0] == 404


@pytest.mark.slow
class TestWhatDies:
    def test_a_run_that_is_killed_is_reported_as_unfinished(self, server: Server) -> None:
        run = server.start()
        events = server.listen(run)
        pid = int(re.search(r"process (\d+)", next(events).data["worker"]).group(1))  # type: ignore[union-attr]  # it is there
        open_gate(server.folder, 3)
        assert next(one for one in events if one.name == "case").data["position"] < 3
        os.kill(pid, 9)
        end = list(events)[-1]
        assert (end.name, end.data["state"]) == ("finished", "unfinished")

    @pytest.mark.nightly
    def test_a_server_that_is_killed_leaves_its_run_alone_and_finds_it_again(self, tmp_path: Path) -> None:
        folder = make_project(tmp_path, CASES)
        with a_real_server(folder) as (first, process):
            run = first.start()
            open_gate(folder, 3)
            seen = list(islice((e for e in first.listen(run) if e.name == "case"), 3))
            process.kill()
            process.wait(60)
        with a_real_server(folder) as (second, _):
            reported = next(one for one in second.listen(run) if one.name == "progress").data
            assert (reported["state"], reported["ours"], reported["done"] >= 3) == ("running", True, True)
            open_gate(folder, 6)
            assert second.ask("POST", f"/api/runs/{run}/cancel")[0] == 202
            assert second.wait_for(run, "unfinished")["stopped_by"]
        assert {one.data["position"] for one in seen} <= {0, 1, 2}

    def test_a_server_that_is_ended_ends_its_runs_in_order(self, tmp_path: Path) -> None:
        folder = make_project(tmp_path, CASES)
        with a_real_server(folder) as (first, process):
            run = first.start()
            open_gate(folder, 3)
            assert sum(1 for _ in islice((e for e in first.listen(run) if e.name == "case"), 3)) == 3
            open_gate(folder, 5)
            process.terminate()
            process.wait(60)
        with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as second:
            page = second.wait_for(run, "unfinished")
        assert page["interrupted"] or page["stopped_by"]
        assert sum(count for name, count in page["counts"].items() if name != "not_run") >= 3


class a_real_server:  # noqa: N801 - it reads as what it is used for
    """`proctor web` as a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> tuple[Server, subprocess.Popen[str]]:
        words = ["web", "--port", "0", "--store", str(self._folder / "runs.sqlite3")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "proctor", *words], cwd=self._folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"127\.0\.0\.1:(\d+)", line):
                return Server(self._folder, int(found[1])), self._process
        raise AssertionError("it does not print its address")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=30)


class TestTheStream:
    def test_gives_up_a_client_that_takes_nothing(self) -> None:
        closed: list[bool] = []

        async def chunks() -> AsyncIterator[bytes]:
            try:
                for number in range(1_000):
                    yield event("case", b"{}", f"e-{number}")
            finally:
                closed.append(True)

        sent: list[Any] = []

        async def stuck(message: Any) -> None:
            sent.append(message)
            if len(sent) == 3:
                await asyncio.sleep(60)

        began = time.monotonic()
        asyncio.run(EventResponse(chunks(), patience=0.2)({}, _never, stuck))
        assert time.monotonic() - began < 40
        assert len(sent) == 3  # one chunk is held for it, and no more
        assert closed == [True]

    def test_ends_when_the_client_hangs_up(self) -> None:
        closed: list[bool] = []

        async def silent() -> AsyncIterator[bytes]:
            try:
                await asyncio.sleep(60)
                yield b""
            finally:
                closed.append(True)

        async def gone() -> Any:
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            return None

        began = time.monotonic()
        asyncio.run(EventResponse(silent())({}, gone, send))
        assert time.monotonic() - began < 40
        assert closed == [True]


async def _never() -> Any:
    await asyncio.sleep(60)


class TestTheRate:
    @given(
        st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 50)), min_size=1, max_size=200),
        st.floats(1, 60),
    )
    def test_is_between_the_slowest_and_the_fastest_step(
        self, steps: list[tuple[float, int]], window: float
    ) -> None:
        rate, now, trials = Throughput(window), 0.0, 0
        rate.see(now, trials)
        for seconds, more in steps:
            now, trials = now + seconds, trials + more
            rate.see(now, trials)
        found = rate.now()
        fastest = max(more / seconds for seconds, more in steps)
        assert found is None or 0 < found <= fastest * (1 + 1e-9)

    def test_of_a_steady_run_is_its_pace(self) -> None:
        rate = Throughput(30)
        for second in range(120):
            rate.see(float(second), 4 * second)
        assert rate.now() == pytest.approx(4)

    @pytest.mark.nightly
    def test_is_unknown_before_anything_happened(self) -> None:
        rate = Throughput(30)
        rate.see(0, 7)
        rate.see(10, 7)
        assert rate.now() is None
