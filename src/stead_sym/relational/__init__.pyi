"""The public names of `stead_sym.relational`, and where each comes from when it is first used."""

from .canonical import CanonicalForm, isomorphic, orbit
from .instance import Fact, Instance
from .schema import Relation, Schema, Sort, Value

__all__ = [  # noqa: RUF022 - in groups
    # schema
    "Relation",
    "Schema",
    "Sort",
    "Value",
    # instance
    "Fact",
    "Instance",
    # canonical form
    "CanonicalForm",
    "isomorphic",
    "orbit",
]
