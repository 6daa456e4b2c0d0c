"""Sorted relational data: schemas, instances, canonical forms. No logic, no tools."""
