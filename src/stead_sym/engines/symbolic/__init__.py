"""The symbolic engine, on binary decision diagrams."""
