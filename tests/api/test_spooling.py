"""Cases put aside until their run begins: as many as there are, as they were, and told when there is no room."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

from hypothesis import given, strategies as st

from proctor.api.spooling import PlannedSpool
from proctor.schema.run import PlannedCase

ANY_TEXT = st.text(st.characters(codec=None), max_size=20)


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=20))
def test_cases_come_back_as_they_were_and_in_order(cases: list[tuple[str, str, str, str]]) -> None:
    with PlannedSpool() as spool:
        for case in cases:
            spool.add(*case)
        for _ in range(2):
            assert list(spool) == [PlannedCase(position, *case) for position, case in enumerate(cases)]


def test_thirty_thousand_take_no_more_memory_than_one_mebibyte_and_a_little() -> None:
    tracemalloc.start()
    try:
        with PlannedSpool() as spool:
            for number in range(30_000):
                spool.add("set", f"case_{number}", f"{number:032x}", f"set.evalset.json:{number}")
            assert sum(1 for _ in spool) == 30_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 << 19


FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from proctor.api.spooling import PlannedSpool
from proctor.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
with PlannedSpool() as spool:
    try:
        for number in range(1_000_000):
            spool.add("set", "case", "hash", "place")
    except StoreError as error:
        print(error)
"""


def test_where_there_is_no_room_it_is_said(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(root / "src")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (
        "cases cannot be put aside there (File too large). Make room, or name another folder" in done.stdout
    )
    assert done.stderr == ""
