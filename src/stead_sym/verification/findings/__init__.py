"""Findings: parts of a deployment that are valid but hardly what the author means, so that a verdict may say
less than it seems to.

A finding never changes the meaning of a file. Some need only the text (`static`), some the reachable states
(`reached`).
"""
