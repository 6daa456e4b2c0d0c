"""Hypotheses of verdicts for every number of records, or within growing bounds.

One decision: these are hypotheses like those of a verification (`verification.audit`), each established or
not, so that reports show, write and compare them in the same way. A verdict that stands needs none that is
missing: `AG f` is about every state that a run reaches, even if the run has no continuation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from stead_sym.agents.roles import Wrappers
from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.fragment import Bounds
from stead_sym.analyses.views.shown import Shown
from stead_sym.deployment.claims import ALWAYS_A_STEP
from stead_sym.deployment.deployment import Deployment
from stead_sym.verification.audit import OF_THE_LANGUAGE, of_agents, of_decisions
from stead_sym.verification.hypotheses import Hypotheses, Hypothesis, Status
from stead_sym.verification.options import Options
from stead_sym.verification.widened import Widened


def rests_on(
    deployment: Deployment,
    wrappers: Wrappers,
    shown: Mapping[str, Shown],
    constructed: Collection[str],
    runs: Mapping[str, Bounds],
    options: Options,
    widened: tuple[Widened, ...] = (),
) -> Hypotheses:
    """Return the hypotheses of verdicts for every number of records, and of refutations within bounds.

    The former are ``shown``, the latter are by ``runs`` within some bounds, both by specification. The claims
    of the file are included; bounds that hold by construction are ``constructed``.
    """
    left_open = {claim for one in shown.values() for claim in one.left_open}
    left_open |= set(_bounds_left(deployment, shown)).difference(constructed)
    every = (
        *_views(deployment, shown),
        *_claims(deployment, left_open, constructed, known=bool(shown)),
        *OF_THE_LANGUAGE,
        *of_agents(deployment, wrappers, options),
        *_followed(deployment, wrappers, shown),
        *of_decisions(wrappers, options.min_mass),
        *_replayed(runs),
    )
    return Hypotheses(every, {}, widened)


def _bounds_left(deployment: Deployment, shown: Mapping[str, Shown]) -> Iterator[str]:
    """Yield the written bounds that are neither shown nor assumed in an induction that was ended."""
    for sort, bound in deployment.bounds.items():
        name = f"bound {sort} {bound}"
        if name not in shown and all(sort in one.sorts for one in shown.values()):
            yield name


def _views(deployment: Deployment, shown: Mapping[str, Shown]) -> Iterator[Hypothesis]:
    """Yield the hypothesis of the theorem: no step leaves γ(V), and what is shown is true in all of it."""
    sets: dict[str, list[str]] = {}
    for name, one in shown.items():
        sets.setdefault(f"{one.by_views}{_together(one)}", []).append(name)
    if sets:
        lines = [
            "no step from a database of any size whose parts are all among these views leads to another part"
        ]
        lines += [f"{', '.join(names)} by {how}" for how, names in sets.items()]
        yield Hypothesis("views are invariant", "established", "; ".join(lines))


def _together(one: Shown) -> str:
    """Return, in words, the claims that are shown in the same induction, of a slice its own."""
    assumed = () if one.proof is None else one.proof.closure.closing.assumed
    together = [claim.name for claim in assumed if not claim.starting]
    return f", in one induction with {', '.join(together)}" if together else ""


def _claims(
    deployment: Deployment, left_open: Collection[str], constructed: Collection[str], *, known: bool
) -> Iterator[Hypothesis]:
    """Yield the claims of the file about its reachable states; ``known``: something is shown of them all."""

    def claimed(name: str, claims: Collection[str], otherwise: str) -> Hypothesis:
        missing = [claim for claim in claims if claim in left_open]
        status: Status = "established" if known and not missing else "not established"
        if not known:
            return Hypothesis(name, status, "nothing is shown of all reachable states")
        if missing:
            return Hypothesis(name, status, f"not shown for every number: {', '.join(missing)}")
        return Hypothesis(name, status, otherwise)

    always = "in every database all of whose parts are among the views"
    open_sorts = deployment.unbounded or deployment.bounds
    bounds = [f"bound {sort} {b}" for sort, b in deployment.bounds.items() if sort not in open_sorts]
    free = (
        f"any number of {', '.join(sort for sort in deployment.bounds if sort in open_sorts)} may be in use"
    )
    if constructed:
        free = f"{free}; {', '.join(constructed)}, since no effect brings in another value"
    if bounds := [name for name in bounds if name not in constructed]:
        yield claimed("bounded", bounds, f"{free}; {', '.join(bounds)}, {always}")
    else:
        yield Hypothesis("bounded", "by construction", free)
    steps = [ALWAYS_A_STEP, *(f"{tool.name} has an effect" for tool in deployment.tools_and_events)]
    yield claimed("serial", steps, f"a step is possible and has an effect, {always}")
    keyed = [f"key of {relation.name}" for relation in deployment.schema.relations if relation.keys]
    yield claimed("keys hold", keyed, f"{', '.join(keyed)}, {always}" if keyed else "none is declared")
    if named := [reference.name for reference in deployment.schema.references]:
        yield claimed("references hold", named, f"{', '.join(named)}, {always}")


def _followed(deployment: Deployment, wrappers: Wrappers, shown: Mapping[str, Shown]) -> Iterator[Hypothesis]:
    """Yield the hypothesis on the agents' choices that verdicts for every number of records need."""
    if not shown or all(wrapper is None for wrapper in wrappers.values()):
        return
    by_any = [name for name, one in shown.items() if not one.followed]
    by_choice = [name for name, one in shown.items() if one.followed]
    lines = []
    if by_any:
        lines.append(f"{', '.join(by_any)}: whatever an agent selects of what it is offered")
    if by_choice:
        lines.append(f"{', '.join(by_choice)}: where an agent selects, as guards of its tools")
    yield Hypothesis(
        "agents are followed", "established" if by_choice else "by construction", "; ".join(lines)
    )


def _replayed(runs: Mapping[str, Bounds]) -> Iterator[Hypothesis]:
    """Yield the hypothesis that a run within some bounds is one of the deployment."""
    if runs:
        lines = (f"{name}, within {in_words(bounds)}" for name, bounds in runs.items())
        yield Hypothesis("runs are runs of the deployment", "established", f"replayed; {'; '.join(lines)}")
