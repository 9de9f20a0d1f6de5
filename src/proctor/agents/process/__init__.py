"""Agents in processes of their own: any command that speaks JSON lines, and Python agents in workers."""
