"""Options of a verification: the arguments of `verify` besides deployment, agents and specifications.

One decision: the options are one value that is passed on unchanged and kept in the result. So the analysis of
blame solves a variant with the same options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.errors import InputError, RestrictionError, at_least_one
from stead_sym.logic.names import check_known
from stead_sym.relational.nauty import CANONICAL_SECONDS

EngineName: TypeAlias = Literal["symbolic", "explicit"]
Domain: TypeAlias = Literal["normal", "theorem"]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `verify`, which documents each of them.

    Raises `InputError` for an option that would have no effect, `RestrictionError` for a domain that the
    engine does not support.
    """

    engine: EngineName = "symbolic"
    domain: Domain | Mapping[str, int] | None = None
    force: bool = False
    wrapped: bool = True
    backend: Backend | None = None
    max_states: int | None = None
    findings: bool = True
    min_mass: float | None = None
    canonical_timeout: float = CANONICAL_SECONDS

    def __post_init__(self) -> None:
        """Check the options."""
        check_known("engine", self.engine, get_args(EngineName))
        if self.domain is not None and not isinstance(self.domain, Mapping):
            check_known("domain", self.domain, get_args(Domain))
        if self.backend is not None:
            check_known("backend", self.backend, get_args(Backend))
            if self.engine != "symbolic":
                raise InputError(
                    "the backend is that of the symbolic engine; leave it out for the explicit one"
                )
        if self.max_states is not None:
            if self.engine != "explicit":
                raise InputError("only the explicit engine counts states as it goes; leave max_states out")
            at_least_one("max_states", self.max_states)
        if self.min_mass is not None and not 0 < self.min_mass <= 1:
            raise InputError(f"min_mass must be above 0 and at most 1, got {self.min_mass!r}")
        if self.mode == "normal" and not self.wrapped:
            raise RestrictionError("without the wrapper there is the literal domain only; take `theorem`")
        if self.mode == "normal" and self.engine == "explicit":
            raise RestrictionError(
                "the explicit engine knows the literal domain only; take `theorem`, or the symbolic engine"
            )

    @property
    def mode(self) -> Domain:
        """Return `normal` if fresh values have representatives, `theorem` on the literal domain."""
        if self.domain is None:
            return "theorem" if self.engine == "explicit" or not self.wrapped else "normal"
        return "normal" if self.domain == "normal" else "theorem"

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes that are given for some sorts."""
        return self.domain if isinstance(self.domain, Mapping) else MappingProxyType({})
