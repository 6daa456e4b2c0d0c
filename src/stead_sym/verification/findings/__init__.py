"""Findings: what is right by the language and yet hardly what its author means, so that no verdict is empty.

A finding never changes what a file means. Some are seen on the text (`static`), some only where states are
reached (`reached`).
"""
