"""The explicit engine: plain and textbook, the reference that the symbolic engine is compared with.

It shares syntax, evaluation and deployments with the symbolic engine and nothing else.
"""
