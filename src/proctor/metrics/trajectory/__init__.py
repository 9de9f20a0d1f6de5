"""Metrics of the tool calls of each turn, beside the format's own `tool_trajectory_avg_score`."""
