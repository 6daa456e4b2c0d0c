"""Agents: base agents, the canonical wrapper that makes them equivariant, rule agents."""
