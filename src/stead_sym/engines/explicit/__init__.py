"""The explicit engine: a textbook implementation, the reference for the symbolic engine.

Its exploration and labelling are its own. It shares with the symbolic engine the definitions that both
interpret: syntax, deployments and their semantics in a single state, the wrapper that queries agents, and
evidence.
"""
