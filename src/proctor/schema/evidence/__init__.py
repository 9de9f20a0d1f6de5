"""The evidence of a trial (its transcript): events, turns, spans, and the simulated user.

Evidence is recorded first and never changed; metrics read it. Start with `trial` and `event`.
"""
