"""The public names of `stead_sym.relational`, and where each comes from when it is first used."""

from .canonical import CanonicalForm as CanonicalForm
from .canonical import isomorphic as isomorphic
from .canonical import orbit as orbit
from .instance import Fact as Fact
from .instance import Instance as Instance
from .schema import Relation as Relation
from .schema import Schema as Schema
from .schema import Sort as Sort
from .schema import Value as Value
