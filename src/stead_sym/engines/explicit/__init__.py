"""The explicit engine: plain and textbook, the reference that the symbolic engine is compared with.

It explores and labels with code of its own. With the symbolic engine it shares what both are about: syntax,
deployments and their semantics in a single state, the wrapper through which agents are asked, and evidence.
"""
