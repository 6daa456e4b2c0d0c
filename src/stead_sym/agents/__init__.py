"""Agents: decision contexts, the canonical wrapper, policies, Python agents, the store of decisions."""
