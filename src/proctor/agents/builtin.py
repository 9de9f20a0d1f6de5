"""The built-in agents: NAME or PREFIX -> "module:factory".

A factory gets the text after the prefix's colon (`""` if there is none) and returns the Agent.
"""

AGENTS = {
    "a2a+http": "proctor.agents.remote.a2a.agent:a2a_agent",
    "adk+http": "proctor.agents.remote.adk_server.agent:adk_server_agent",
    "replay": "proctor.agents.replay:replay_agent",
    "http+sse": "proctor.agents.remote.sse_agent:sse_agent",
    "http": "proctor.agents.remote.detect:http_agent",
    "https": "proctor.agents.remote.detect:https_agent",
    "openai+http": "proctor.agents.remote.openai.agent:openai_agent",
    "cmd": "proctor.agents.process.process_agent:command_agent",
}
