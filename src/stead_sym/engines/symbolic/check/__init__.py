"""Check specifications over the reachable states, and extract the runs behind their verdicts."""
