"""Whether a specification holds for every number of records.

One decision: agents that are rules are followed where that is possible (`views.choices`), and others may
select whatever they are offered, so that what is shown is true of each agent; and no unbounded sort is
taken to have a bound.

Theorem. Let V be invariant (`views.closure`), and let ~f need r values (`views.needs`). If f is true in all
instances of γ(V) over at most r values, then AG f holds.

Proof. A reachable D is in γ(V). If f were false in it, it would be so in a part of D on r values, which is in
γ(V). ∎
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from stead_sym.agents.roles import Wrappers
from stead_sym.analyses.views.choices import followed
from stead_sym.analyses.views.closure import Assumed, Closing, Closure, keys_and_bounds
from stead_sym.analyses.views.gluing import Gluing
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.watching import watched
from stead_sym.deployment.claims import claims
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.syntax import And, Expanded, Future, Globally, Not, is_temporal
from stead_sym.relational.instance import Instance

STEPS = 3
"""So many values of k are tried, from the number of columns of unbounded sorts on."""


_NOT_ALWAYS = (
    "only `AG` of a first-order sentence, and some of `A[… W …]`, `AX` and `AG` below it, are shown so;"
    " write a bound to ask this within it"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """That a specification holds for every number of values of the ``sorts``, by ``views`` parts on ``k``
    of them; the claims ``left_open``, that there is always a step, are not shown with it. Unless what the
    agents select is ``followed``, it is shown whatever that is. The ``invariants`` of the file were shown
    with it."""

    k: int
    views: int
    sorts: tuple[str, ...]
    left_open: tuple[str, ...] = ()
    followed: bool = False
    invariants: tuple[str, ...] = ()

    @property
    def scope(self) -> tuple[str, ...]:
        """What a reader has to know beside `holds`."""
        whoever = "" if self.followed else ", whatever an agent selects"
        every = f"for every number of {' and '.join(self.sorts)}{whoever}"
        shown_with = f", shown with {' and '.join(self.invariants)}" if self.invariants else ""
        said = f"{every} ({self.k}-views: {self.views} of them{shown_with})"
        left = f"not shown for every number: {', '.join(self.left_open)}"
        return (said, left) if self.left_open else (said,)


def always(formula: Expanded) -> tuple[Expanded, ...] | None:
    """The first-order sentences of which a specification says that they are always true; None for one that
    says something else."""
    match formula:
        case Globally("A", body) if not is_temporal(body):
            return (body,)
        case Globally("A", And(parts)):
            return always(And(tuple(Globally("A", part) for part in parts)))
        case Globally("A", Globally("A") as inner):
            return always(inner)
        case Not(Future("E", body)):
            return always(Globally("A", Not(body)))
        case And(parts):
            found = [always(part) for part in parts]
            return None if None in found else tuple(f for one in found if one is not None for f in one)
        case _:
            return None


@dataclass
class _Group:
    """Specifications that are not decided yet, by the sentences that are to be always true in a
    ``deployment``."""

    deployment: Deployment
    open: dict[str, tuple[Expanded, ...]]


def _columns(deployment: Deployment) -> int:
    """The least number of values of a view: that of the columns of unbounded sorts of a relation, or 1."""
    return max(
        [1, *(sum(sort in deployment.bounds for sort in r.sorts) for r in deployment.schema.relations)]
    )


class EveryNumber:
    """Some specifications of one deployment, looked at with parts on more and more values."""

    def __init__(self, deployment: Deployment, specs: Mapping[str, Expanded], wrappers: Wrappers) -> None:
        open_sorts = deployment.unbounded or deployment.bounds
        self.sorts = tuple(sort for sort in deployment.bounds if sort in open_sorts)
        self.reasons: dict[str, str] = {}
        self._left_out: dict[str, str] = {}
        self._left, self._more = STEPS, 0
        guarded = followed(deployment, wrappers, _columns(deployment))
        self._follows = guarded.tools != deployment.tools
        self._groups: list[_Group] = []
        plain: dict[str, tuple[Expanded, ...]] = {}
        for name, formula in specs.items():
            if (sentences := always(formula)) is not None:
                plain[name] = sentences
            elif (found := watched(guarded, formula)) is not None:
                self._groups.append(_Group(found.deployment, {name: found.sentences}))
            elif deployment.unbounded:
                self.reasons[name] = _NOT_ALWAYS
        if plain:
            self._groups.insert(0, _Group(guarded, plain))

    def further(self, asked: Collection[str]) -> Mapping[str, Shown]:
        """The specifications that parts on the next number of values show; of the others ``reasons`` says
        why not. Of those not ``asked`` nothing more is to be found out."""
        for group in self._groups:
            group.open = {name: sentences for name, sentences in group.open.items() if name in asked}
        found: dict[str, Shown] = {}
        if self.is_open:
            for group in self._groups:
                if group.open:
                    found |= self._shown(group, _columns(group.deployment) + self._more)
            self._left, self._more = self._left - 1, self._more + 1
        return found

    def _shown(self, group: _Group, k: int) -> Mapping[str, Shown]:
        try:
            closing, closure = self._closed(group.deployment, k)
        except (Outside, Undecided) as error:
            for name in group.open:
                self.reasons.setdefault(name, str(error).removeprefix("unknown: "))
            group.open.clear()
            return {}
        if closure.broken:
            self.reasons.update(dict.fromkeys(group.open, f"{closure.broken} is not shown by {k}-views"))
            return {}
        invariants = tuple(dict.fromkeys(a.name for a in closing.assumed if a.starting))
        gluing = closing.gluing(closure.views)
        shown = [
            name for name, sentences in group.open.items() if self._always(closing, gluing, name, sentences)
        ]
        left_open = tuple(_not_shown(closing, gluing)) if shown else ()
        for name in shown:
            del group.open[name]
            self.reasons.pop(name, None)
        found = Shown(k, len(closure.views), self.sorts, left_open, self._follows, invariants)
        return dict.fromkeys(shown, found)

    def _closed(self, deployment: Deployment, k: int) -> tuple[Closing, Closure]:
        """Views on k values that are invariant together with as many of the invariants of the file as can be
        shown. Raises `Outside` and `Undecided`."""
        declared = tuple(keys_and_bounds(deployment, self.sorts))
        helping = list(self._helping(deployment))
        while True:
            try:
                closing = Closing(deployment, k, (*declared, *helping))
                closure = closing.closed()
            except Undecided as error:
                if not helping:
                    raise
                said = str(error).removeprefix("unknown: ")
                self._left_out.update((one.name, f"with invariant {one.name} {said}") for one in helping)
                helping = []
                continue
            broken = {one.name for one in helping} & {closure.broken}
            if not broken:
                return closing, closure
            self._left_out.update((name, f"invariant {name} is not shown by {k}-views") for name in broken)
            helping = [one for one in helping if one.name not in broken]

    def _helping(self, deployment: Deployment) -> Iterator[Assumed]:
        """The invariants of the file that can be shown by views: those that are true in each part of an
        instance in which they are. ``_left_out`` says why not of the others."""
        needs = Needs(deployment)
        self._left_out = {}
        for spec in deployment.specs:
            for sentence in always(spec.formula) or () if spec.helps else ():
                try:
                    needs.refuted(sentence)
                    if needs.kept(sentence):
                        raise Outside(
                            f"invariant {spec.name} says that there is a record; write a spec", spec.span
                        )
                except Outside as error:
                    self._left_out[spec.name] = str(error)
                else:
                    yield Assumed(spec.name, sentence, starting=True)

    @property
    def is_open(self) -> bool:
        """Whether there is something left to look at with parts on more values."""
        return self._left > 0 and any(group.open for group in self._groups)

    def _always(self, closing: Closing, gluing: Gluing, name: str, sentences: tuple[Expanded, ...]) -> bool:
        """Whether the sentences of a specification are true in all of γ(V)."""
        try:
            against = next(_against(closing, gluing, sentences), None)
        except (Outside, Undecided) as error:
            self.reasons[name] = str(error).removeprefix("unknown: ")
            return False
        if against is not None:
            without = [why for other, why in self._left_out.items() if other != name]
            self.reasons[name] = "; ".join([f"{closing.k}-views do not exclude {against}", *without])
        return against is None


def _against(closing: Closing, gluing: Gluing, sentences: Iterable[Expanded]) -> Iterator[Instance]:
    """The instances of γ(V), over as many values as that takes, in which one of the sentences is false, those
    over few values first. Raises `Outside` and `Undecided`."""
    for sentence in sentences:
        r = closing.needs.refuted(sentence)
        for facts in sorted(gluing.instances(r), key=lambda facts: (len(facts), sorted(facts))):
            state = Instance(closing.deployment.schema, facts)
            if not holds(sentence, state):
                yield state


def _not_shown(closing: Closing, gluing: Gluing) -> Iterator[str]:
    """The claims that there is always a step, and that it has an effect, which are not shown."""
    for claim in claims(closing.deployment):
        if not claim.name.startswith(("bound ", "key of ")):
            try:
                if next(_against(closing, gluing, [claim.invariant]), None) is not None:
                    yield claim.name
            except (Outside, Undecided):
                yield claim.name
