"""The agent, asked context by context, and the reachable states."""
