"""What a metric, or a case, came to, in the words of the format."""

from enum import IntEnum


class EvalStatus(IntEnum):
    """What a metric, or a case, came to. INFORMATIONAL: measured, not judged."""

    PASSED = 1
    FAILED = 2
    NOT_EVALUATED = 3
    INFORMATIONAL = 4
