"""Query the agents context by context, and compute the reachable states."""
