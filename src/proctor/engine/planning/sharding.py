"""Shards: several machines share the cases of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from proctor.errors import SetupError

MOST = 10_000
"""Shards that a run may be cut into."""

_FORM = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` (from 1) of `count`.

    The hash of the ids of a case and its set determines its shard: other cases of the set and the machine do not
    matter. The shards of a large set differ in size by a few times the square root of their size; a shard of a small
    set may be empty.
    """

    number: int
    count: int

    def holds(self, eval_set_id: str, eval_id: str) -> bool:
        """Return whether a case belongs to this shard."""
        key = f"{len(eval_set_id)}:{eval_set_id}{eval_id}".encode("utf-8", "surrogatepass")
        hashed = blake2b(key, digest_size=8).digest()
        return int.from_bytes(hashed, "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: object) -> Shard:
    """Read `2/4`: the second of four.

    Raises:
        SetupError: the text has another form.
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count <= MOST:
        raise SetupError(
            f"shard must be I/N, the I-th of N shards counted from 1 (N at most {MOST:,}), for example 2/4; got {text!r}"
        )
    return Shard(number, count)


def share(shard: str, here: int, elsewhere: int) -> str:
    """Return a sentence on the share of the cases that this run has; other shards have the rest."""
    return f"shard {shard}: {here or 'none'} of {here + elsewhere} cases; the other shards run the rest"
