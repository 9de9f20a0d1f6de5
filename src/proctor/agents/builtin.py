"""The agents that have a name of their own: NAME or PREFIX -> "module:factory".

A factory gets what stands after the prefix's colon (`""` when nothing does) and returns the Agent.
"""

AGENTS = {
    "replay": "proctor.agents.replay:replay_agent",
}

RESERVED = ("http+sse", "adk+http", "a2a+http", "openai+http", "cmd")
"""Prefixes of agents that live elsewhere: promised, not in this version."""
