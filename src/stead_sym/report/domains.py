"""The sizes of a domain in words, without what reports of a verification import."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead_sym.deployment.restriction import Restriction
    from stead_sym.verification.options import Domain


def domain_text(restriction: Restriction, mode: Domain) -> str:
    """Return the sizes of the domains, and their justification."""
    if not restriction.sizes:
        return "empty: there are no sorts"
    sizes = ", ".join(f"{sort} {size}" for sort, size in restriction.sizes.items())
    if not restriction.exact:
        return f"{sizes} (forced below the theorem: nothing carries over)"
    if mode == "normal":
        return f"{sizes} (representatives)"
    by_theorem = all(d.size == d.required for d in restriction.derivation.values())
    return f"{sizes} ({'by the theorem' if by_theorem else 'above the theorem'})"
