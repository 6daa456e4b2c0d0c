"""Runs of pytest within a test forget the modules that they import. What cannot be imported twice into one
process is imported before: the compiled part of sqlalchemy keeps what it finds the first time."""

import sqlalchemy  # noqa: F401
