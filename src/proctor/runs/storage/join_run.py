"""Write one run together with other processes: each runs a part of the cases (`--shard I/N --join RUN`).

All members prepare the whole run. The first one stores it; the others compare theirs with it. No member calls the agent
before all of them are ready.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from proctor.engine.execution.run_control import Notes
from proctor.engine.execution.run_recorder import Commits, ScoringRecord
from proctor.engine.planning.set_plan import SetPlan, Shard, parse_shard, shard_text
from proctor.engine.run_options import WORKERS
from proctor.engine.trial.conversation import HOOKS
from proctor.errors import NothingToRunError, RunInUseError, SetupError, SetupProblems
from proctor.runs.resume_changes import canonical_json, changes
from proctor.runs.setup.judge_and_user import AN_OBJECT, JudgesOnDemand, UsersOnDemand
from proctor.runs.setup.manifest import add_description, planned_cases, scoring_manifest
from proctor.runs.storage.open import store_option
from proctor.schema.results.manifest import Manifest, RunState, RunSummary
from proctor.schema.results.run_result import CaseResult
from proctor.schema.serialize import HASH_BYTES
from proctor.stores.base import CAPS, Caps
from proctor.stores.shared_runs import run_members

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo
    from proctor.engine.planning.plan import Plan
    from proctor.runs.setup.prepare import Prepared
    from proctor.stores.base import Allotment, Store, StoredTrial
    from proctor.stores.shared_runs import Membership, RunMember, SharedRuns

POLL_SECONDS = 0.2
"""Seconds between two looks at the other members."""
_LOOK_SECONDS = 0.5
"""The same for a process that only waits for the end of a run."""
_QUIET_SECONDS = 2.0
"""Seconds after which a message names the members that are waited for."""
DEAD_AFTER = 75.0
"""Seconds after which a process of another machine that does not renew its lease has certainly ended."""
_SHARING = ("shard", "join", "join_timeout")
_FREE = frozenset(
    {
        *_SHARING,
        "concurrency",
        "isolate",
        "isolate_memory",
        "eval_sets",
        "config",
        "outputs",
        "explain",
        "keep_evidence",
        "max_time",
        *WORKERS,
    }
)
"""Options in which members may differ: they change no verdict, or `changes` compares what they name."""

Notify = Callable[[str], None]


def joined_run(prepared: Prepared, options: Any, *, is_resume: bool = False) -> JoinedRun:
    """Reduce a prepared run to the part of this process; return how to join the run. `is_resume`: its caps may have changed.

    Raises:
        SetupError: the store cannot be used by several processes.
    """
    store, manifest = prepared.store, prepared.manifest
    if store is None or manifest is None or not hasattr(store, "join"):
        raise SetupError(
            "join: this store cannot be written by several processes: use a SQLite file or postgresql://…"
        )
    for name in ("user", *HOOKS):
        if manifest.options.get(name) == AN_OBJECT:
            raise SetupError(
                f"join: {name} is an object in Python that no name in a module leads to, so that no part can prove that it "
                "runs the same. Put it at the top of a module"
            )
    manifest.run_id = options["join"]
    for name in (*_SHARING, "outputs"):  # they are those of one member
        manifest.options.pop(name, None)
    shard, whole = parse_shard(options["shard"]), replace(prepared)
    prepared.plan, positions = _part_of(prepared.plan, shard)
    for pool in (prepared.options.judges, prepared.options.users):
        if isinstance(pool, JudgesOnDemand | UsersOnDemand):
            pool.share(shard.count)
    seconds = options.get("join_timeout")
    progress = options.get("progress")
    notify = progress.noted if isinstance(progress, Notes) else (lambda _: None)
    joined = JoinedRun(whole, manifest, shard, positions, 600.0 if seconds is None else seconds, notify)
    joined.free = frozenset({*_FREE, *CAPS}) if is_resume else _FREE
    return joined


def _part_of(plan: Plan, shard: Shard) -> tuple[Plan, list[int]]:
    """Return the part of a plan that a shard has, and the positions of its cases in the run."""
    sets, positions, first = [], [], 0
    for chosen in plan.sets:
        ids, set_id = chosen.source.ids(), chosen.source.eval_set_id
        own = [at for at, index in enumerate(chosen.cases) if shard.holds(set_id, ids[index])]
        positions += [first + at for at in own]
        sets.append(_with_cases(chosen, own))
        first += len(chosen.cases)
    return replace(plan, sets=sets), positions


def _with_cases(chosen: SetPlan, own: Sequence[int]) -> SetPlan:
    hashes = bytearray().join(chosen.hashes[HASH_BYTES * at : HASH_BYTES * (at + 1)] for at in own)
    cases = [chosen.cases[at] for at in own]
    return replace(chosen, cases=cases, hashes=hashes, summary=replace(chosen.summary, cases=len(cases)))


class JoinedRun(ScoringRecord):
    """A run that several processes write, and the part of it that this one runs."""

    def __init__(
        self,
        whole: Prepared,
        manifest: Manifest,
        shard: Shard,
        positions: Sequence[int],
        patience: float,
        notify: Notify,
    ) -> None:
        """Keep the whole run, as it was prepared here, and the `positions` of the part; nothing is stored yet."""
        store: Any = whole.store
        super().__init__(
            store, lambda _, committed: self._member.writer(positions, committed), positions=positions
        )
        self.shared: SharedRuns = store
        self.shard = shard
        self._whole, self._manifest = whole, manifest
        self._own, self._own_positions = list(positions), frozenset(positions)
        self.free: frozenset[str] = _FREE
        """The options in which this member may differ from the run."""
        self._patience, self._notify = patience, notify
        self._member: Membership

    # --- before the run ----------------------------------------------------------------------------------------------

    async def meet(self, info: AgentInfo | None) -> None:
        """Join the run, and return when all members are ready.

        Raises:
            SetupError: the members do not run the same thing, or one did not arrive in time.
            NothingToRunError: the part has no case.
        """
        self._manifest.agent = add_description(self._manifest.agent, info)
        self._member = await self._claim_part()
        try:
            self._check_same()
            self._member.set_ready()
            await self._wait()
        except asyncio.CancelledError:
            self._member.leave()
            raise
        total = sum(len(chosen.cases) for chosen in self._whole.plan.sets)
        note = shard_text(str(self.shard), len(self._own), total - len(self._own))
        if not self._own:
            self._member.writer((), _ignore_commit).finish(RunSummary(), complete=True)
            raise NothingToRunError(note)
        self._notify(f"run {self._manifest.run_id}: {note}")

    async def _claim_part(self) -> Membership:
        """Take the part of this process; wait for a process on another machine that may have died."""
        plan, until = self._whole.plan, time.monotonic() + DEAD_AFTER
        scoring = scoring_manifest(plan, self._whole.unreadable, created_at=self._manifest.created_at)
        while True:
            try:
                return self.shared.join(
                    self._manifest,
                    planned_cases(plan),
                    scoring,
                    part=self.shard.number,
                    parts=self.shard.count,
                    caps=Caps.of(self._whole.options),
                )
            except RunInUseError as error:
                if not error.may_have_died or time.monotonic() > until:
                    raise
            await asyncio.sleep(1.0)

    def _check_same(self) -> None:
        """Compare what this member runs with what is stored.

        Raises:
            SetupProblems: it differs; the other members learn it.
        """
        stored = self.store.manifest(self._manifest.run_id)
        differences = [
            *changes(self.store, stored, self._whole).messages,
            *_other_options(stored, self._manifest, self.free),
        ]
        if not differences:
            return
        run_id = self._manifest.run_id
        part = f"part {self.shard} of run {run_id}"
        self._member.refuse(f"{part} differs: {'; '.join(differences)}")
        remedy = (
            f"all members of run {run_id} must run the same: {part} is refused, and nothing was run in it"
        )
        raise SetupProblems([*map(SetupError, differences), SetupError(remedy)])

    async def _wait(self) -> None:
        began, is_announced = time.monotonic(), False
        while True:
            members = self._member.members()
            if refusal := next((member.refusal for member in members if member.refusal), ""):
                self._end_membership(f"nothing was run: {refusal}")
            if sum(member.is_ready for member in members) == self.shard.count:
                return
            waited = time.monotonic() - began
            if waited >= self._patience:
                missing = _missing(members, self.shard.count)
                self._end_membership(
                    f"nothing was run: {missing} of run {self._manifest.run_id} did not arrive within "
                    f"{self._patience:g} s (--join-timeout). Start every part with the same --join and its own --shard"
                )
            elif not is_announced and waited > _QUIET_SECONDS:
                is_announced = True
                missing = _missing(members, self.shard.count)
                self._notify(
                    f"run {self._manifest.run_id}: waiting for {missing}, at most {self._patience:g} s"
                )
            await asyncio.sleep(POLL_SECONDS)

    def _end_membership(self, why: str) -> None:
        if self._member.leave():
            raise SetupError(why)

    # --- the run -----------------------------------------------------------------------------------------------------

    def begin(self, info: AgentInfo | None) -> None:
        """Begin the part, or continue it."""
        self._writer = self._member.writer(self._own, Commits(asyncio.get_running_loop()))
        run_id = self._manifest.run_id
        me = next((one for one in self.shared.members(run_id) if one.part == self.shard.number), None)
        if me is None:  # the other members completed the run meanwhile: this part was complete
            raise SetupError(f"run {run_id} has ended: `proctor show {run_id}` shows it")
        self.attempts_made = me.trials
        self.resumed = bool(me.trials)
        if self.resumed:
            self.earlier = me.summary
            outcomes = self.store.outcomes(run_id, 1)
            self._outcomes = {at: outcome for at, outcome in outcomes.items() if at in self._own_positions}

    def open_allotment(self, _caps: Caps) -> Allotment | None:
        """Return what this part may spend."""
        return self._member.allotment

    @property
    def completes_run(self) -> bool:
        """Whether this part was the last one: the run is complete."""
        return bool(getattr(self.writer, "completes_run", False))

    def attempts(self) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every stored attempt of this part."""
        return self.store.attempts(self._manifest.run_id, self._own)

    def trials(self, positions: Sequence[int]) -> Iterator[tuple[int, list[StoredTrial]]]:
        """Yield the stored trials of each of these cases that is in this part and has any."""
        return super().trials([at for at in positions if at in self._own_positions])

    def cases(self) -> Sequence[CaseResult]:
        """Return the cases of this part, read from the store when they are asked for."""
        return self.store.cases(self._manifest.run_id, 1, self._own)


def _missing(members: Sequence[RunMember], count: int) -> str:
    there = {member.part for member in members if member.is_ready}
    missing = [f"{part}/{count}" for part in range(1, count + 1) if part not in there]
    text = ", ".join(missing[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
    return f"part {text}" if len(missing) == 1 else f"parts {text}"


_MOST_NAMED = 5


def _other_options(stored: Manifest, own: Manifest, free: frozenset[str]) -> Iterator[str]:
    """Yield a sentence for each option in which a member differs from the run."""
    for name in {**stored.options, **own.options}:
        was, is_now = stored.options.get(name), own.options.get(name)
        if name not in free and canonical_json(was) != canonical_json(is_now):
            yield f"{name} is {canonical_json(is_now)} here and {canonical_json(was)} in the run"


def _ignore_commit(_tokens: Sequence[object], _error: Exception | None) -> None:
    """Ignore commits: an empty part waits for none."""


# --- Runs of several processes, seen from others ----------------------------------------------------------------------


def changed_caps(store: Any, run_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the caps of a run, by option, after the `options` of `resume` have replaced them."""
    shared: SharedRuns = store
    before = shared.caps(run_id)
    caps = replace(before, **{name: options[name] for name in CAPS if options.get(name) is not None})
    if caps != before:
        shared.set_caps(run_id, caps)
    return asdict(caps)


def dead_parts(store: Any, run_id: str, *, is_first: bool) -> Iterator[str]:
    """Yield the parts that are not complete and that no process runs, as `I/N`.

    Raises:
        SetupError: there is none, and `is_first`; or the run has not begun.
    """
    members: list[RunMember] = store.members(run_id)
    if members and sum(member.is_ready for member in members) < members[0].parts:
        raise SetupError(
            f"run {run_id} has not begun: {_missing(members, members[0].parts)} did not arrive. Start every part with "
            f"--shard I/{members[0].parts} --join {run_id}"
        )
    dead = [f"{one.part}/{one.parts}" for one in members if not (one.is_complete or one.worker)]
    if is_first and members and not dead:
        raise SetupError(
            f"run {run_id}: there is nothing to resume, as every part that is left is being run: {_unfinished_parts(members)}. "
            f"`proctor show {run_id} --wait{store_option(store)}` waits for the verdict"
        )
    yield from dead


def _unfinished_parts(members: Sequence[RunMember]) -> str:
    left = [one for one in members if not one.is_complete]
    parts = [f"part {one.part}/{one.parts} ({one.worker or 'no process'})" for one in left[:_MOST_NAMED]]
    return ", ".join(parts) + (", …" if len(left) > _MOST_NAMED else "")


def wait_for_end(store: Store, run_id: str, seconds: float) -> str:
    """Wait until a run is complete; return why it is not, or an empty text.

    A run of one process that has died is not waited for. A part of a shared run that has no process may get one.
    """
    until = time.monotonic() + seconds
    while (state := store.record(run_id).state) is not RunState.FINISHED:
        members = run_members(store, run_id)
        if state is RunState.UNFINISHED and not members:
            return f"run {run_id} is unfinished, and no process runs it: `proctor resume {run_id}{store_option(store)}` resumes it"
        if (
            members
            and (stopped_by := store.summary(run_id, 1).stopped_by)
            and (hint := cap_hint(store, run_id, stopped_by))
        ):
            return f"run {run_id} is not complete: stopped by {stopped_by}. {hint}"
        if time.monotonic() >= until:
            left = f": {_unfinished_parts(members)}" if members else ""
            resumed = f"`proctor resume {run_id}{store_option(store)}` runs parts without a process"
            return f"run {run_id} is not complete after {seconds:g} s{left}. {resumed}"
        time.sleep(_LOOK_SECONDS)
    return ""


def cap_hint(store: Store, run_id: str, stopped_by: str) -> str:
    """Return how a run continues that a cap of all its parts has stopped; empty if none has."""
    name = stopped_by.partition(":")[0]
    if name not in CAPS:
        return ""
    flag = name.replace("_", "-")
    return (
        f"`proctor resume {run_id} --{flag} N{store_option(store)}` resumes it with N as the limit of all parts together, in "
        "which what was spent counts"
    )
