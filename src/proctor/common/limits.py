"""Limits on what any agent may return. An answer beyond a limit is cut, or is an error that names the limit."""

MAX_DEPTH = 100
"""Levels of nesting of a tool argument, a tool response or a state value."""

MAX_TEXT = 2**20
"""Characters of one text; all texts of a turn together may have eight times as many."""

MAX_EVENTS = 10_000
"""Events of one turn."""

MAX_SPANS = 1_000
"""Spans of one turn that are stored."""

MAX_SPAN_TEXT = MAX_TEXT // 8
"""Characters of one text of a span; all texts of a turn's spans together may have eight times as many."""
