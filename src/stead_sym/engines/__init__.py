"""The engines: the protocol of what they answer, explicit search (the oracle), and the symbolic engine."""
