"""Findings: valid parts of a deployment that are probably not meant as written.

Because of them a verdict may establish less than it seems to. A finding never changes the meaning of a file.
Some findings need only the text (`static`), some the reachable states (`reached`).
"""
