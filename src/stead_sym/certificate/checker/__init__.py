"""The checker of certificates: a plain symbolic model with a bit per fact, written from the definitions.

It shares with the rest of the package the language (parser, sorts, expansion), the sizes of restrictions and
`symbolic.bdd.manager`; nothing else of `symbolic`, and nothing of `agents`.
"""
