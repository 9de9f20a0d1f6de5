"""Rules that the tool calls of a whole trial must keep: "A only after B", "A at most once" and the like."""
