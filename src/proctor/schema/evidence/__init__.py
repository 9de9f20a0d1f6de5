"""What a trial recorded: events, the turns of a trial, spans, and faults of the simulated user.

Evidence is recorded first and never changed; metrics read it. Start with `trial` and `event`.
"""
