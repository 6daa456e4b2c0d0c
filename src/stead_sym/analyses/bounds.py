"""The least bounds that a deployment keeps, found by exploration with growing bounds.

One decision: a bound is suggested only if it is established. An exploration that stays within its bounds has
met every reachable state up to renaming, so that the largest numbers of active values in it are the least
bounds. An exploration that exceeds a bound ends with a run to that state, and the bound is raised. If a sort
exceeds the limit, only the run is reported: it is undecidable if the sort has a bound at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stead_sym.agents.roles import ANY, AgentLike, wrap_all
from stead_sym.deployment.deployment import Deployment, as_deployment
from stead_sym.deployment.trace import Trace
from stead_sym.errors import BoundExceeded, InputError, at_least_one
from stead_sym.support.progress import Progress, saying
from stead_sym.verification.verify import verify

LIMIT = 16
"""The largest bound that is tried by default."""


@dataclass(frozen=True, slots=True)
class SortBound:
    """The bound of one unbounded sort.

    ``written`` is b_S of the deployment, or None if the file has no such line; ``any``: the file leaves it
    open. ``least`` is the largest number of values outside C that are active in a reachable state, or None if
    no exploration stayed within the limit. ``seen`` of them are active in some reachable state, so that no
    smaller bound is kept. ``chosen``: D0 is any database with relations over the sort, so that the bound also
    limits the size of D0.
    """

    sort: str
    written: int | None
    least: int | None
    seen: int
    chosen: bool = False
    any: bool = False

    @property
    def remark(self) -> str:
        """A comparison of the bound of the deployment with the least one, in words."""
        if self.least is None or self.any:
            return ""
        written = self.written or 0
        if written == self.least:
            return ""
        return "larger than needed" if written > self.least else "too small" if self.written else "missing"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds that a deployment keeps under its agents, per unbounded sort.

    ``states`` is the number of reachable states, with representatives counted. If some sort has exceeded the
    ``limit``, that sort is ``outgrown``, and ``run`` is a run to a state with more of its values than the
    limit. For the other sorts only `SortBound.seen` is known.
    """

    sorts: Mapping[str, SortBound]
    limit: int
    states: int | None = None
    outgrown: str | None = None
    run: Trace | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines for the file; none for a bound of 0, which is that of a sort without a line."""
        return tuple(f"bound {bound.sort} {bound.least}" for bound in self.sorts.values() if bound.least)

    @property
    def sources(self) -> Mapping[str, int]:
        """The number of values of the sort beyond the limit that each tool or event adds on the run."""
        found: Counter[str] = Counter()
        if self.run is not None and self.outgrown is not None:
            states = self.run.states
            for before, step in zip(states, self.run.steps, strict=False):
                new = step.state.active_domain[self.outgrown] - before.active_domain[self.outgrown]
                found[step.call.tool] += len(new)
        return MappingProxyType({tool: number for tool, number in found.items() if number})

    def __str__(self) -> str:
        """Return the lines for the file, or the sort that has no bound up to the limit."""
        if self.outgrown is None:
            return "\n".join(self.lines)
        return f"no bound up to {self.limit} for {self.outgrown}"


def least_bounds(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike] = ANY,
    *,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Bounds:
    """Return the least bounds that hold in every reachable state of a deployment under an agent.

    The agent is given as to `verify`. The bounds grow from 0, or from the deployment's bound if
    `initially any` admits every database up to it.

    Raises what `verify` raises, a `DefinitionError` for a run that breaks another claim than a bound, and
    `Undecided` if a hypothesis is missing, for example if it is not decided that an `ensure` keeps a bound.
    """
    as_deployment(deployment)
    at_least_one("limit", limit)
    agents = {name: ANY if made is None else made for name, made in wrap_all(deployment, agent).items()}
    chosen = frozenset(_chosen(deployment))
    for sort in sorted(chosen & deployment.unbounded):
        raise InputError(
            f"`initially any` and `bound {sort} any` admit any number of {sort}, so that there is no least"
            f" bound; write `bound {sort} N`",
            deployment.bound_spans.get(sort),
        )
    bounds = {sort: bound if sort in chosen else 0 for sort, bound in deployment.bounds.items()}
    seen = dict.fromkeys(bounds, 0)
    while True:
        tried = deployment.within(bounds)
        result = verify(
            tried, agents, (), progress=saying(progress, f"bounds {in_words(bounds)}"), findings=False
        )
        if isinstance(result.broken, BoundExceeded):
            run = result.broken.trace
            active = run.last.active_domain
            now = {sort: len(deployment.outside(sort, active[sort])) for sort in bounds}
            seen = {sort: max(number, now[sort]) for sort, number in seen.items()}
            past = next((sort for sort, number in now.items() if number > max(limit, bounds[sort])), None)
            if past is not None:
                sorts = {s: _sort_bound(deployment, s, None, seen[s], s in chosen) for s in bounds}
                return Bounds(MappingProxyType(sorts), limit, outgrown=past, run=run)
            grown = {s: max(now[s], min(limit, 2 * b)) for s, b in bounds.items() if now[s] > b}
            bounds.update(grown)
        else:
            result.hypotheses.require()
            most = result.engine.most_active
            sorts = {s: _sort_bound(deployment, s, most[s], most[s], s in chosen) for s in bounds}
            return Bounds(MappingProxyType(sorts), limit, states=result.engine.states)


def in_words(bounds: Mapping[str, int]) -> str:
    """Return the bounds as text, such as `case 3, task 3`."""
    return ", ".join(f"{sort} {b}" for sort, b in bounds.items()) or "no unbounded sort"


def _sort_bound(deployment: Deployment, sort: str, least: int | None, seen: int, chosen: bool) -> SortBound:
    bound = deployment.bounds[sort]
    any_ = sort in deployment.unbounded
    written = bound if not any_ and (bound or sort in deployment.bound_spans) else None
    return SortBound(sort, written, least, seen, chosen, any_)


def _chosen(deployment: Deployment) -> Iterator[str]:
    """Yield the sorts of the relations that `initially any` leaves open."""
    if deployment.initially is not None:
        for name in deployment.initially.relations:
            yield from deployment.schema.relation(name).sorts
