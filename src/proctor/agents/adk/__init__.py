"""Agents, apps and YAML files of google-adk (extra `adk`)."""

from proctor.agents.adk.agent import AdkAgent as AdkAgent
