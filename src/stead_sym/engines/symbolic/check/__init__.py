"""Specifications over the reachable states, and the runs behind their verdicts."""
