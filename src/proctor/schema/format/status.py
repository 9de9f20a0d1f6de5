"""What a metric, or a case, came to, in the words of the format."""

from enum import IntEnum


class EvalStatus(IntEnum):
    """What a metric, or a case, came to. INFORMATIONAL: measured, not judged."""

    PASSED = 1
    FAILED = 2
    NOT_EVALUATED = 3
    INFORMATIONAL = 4

    def __bool__(self) -> bool:
        """Return whether it is a pass, so that `assert status` fails for everything else.

        Raises:
            TypeError: it is informational: neither a pass nor a failure.
        """
        if self is EvalStatus.INFORMATIONAL:
            raise TypeError(
                f"{self!r} is neither a pass nor a failure; compare it with a member of EvalStatus"
            )
        return self is EvalStatus.PASSED
