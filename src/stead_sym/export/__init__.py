"""The restriction, with the agent's choices in it, for other model checkers to read: `docs/export.md`."""
