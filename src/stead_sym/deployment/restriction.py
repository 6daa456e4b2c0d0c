"""Derive the finite domain U_f of the theorem "exact finite verification", and its sizes.

For a sort with infinite U_S it has C ∩ U_S and generated names up to 2·b_S + |C ∩ U_S| + var_S values. Here
var_S is the largest number of S-variables among the specifications checked together. A finite sort is kept in
full. The one decision: a domain below that size is refused unless it is forced, and a forced one is marked
(`Restriction.exact`), since no verdict over it carries over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from types import MappingProxyType

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.errors import InputError, RestrictionError, Undecided
from stead_sym.logic.sorts import variables_by_sort
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Sort, Value
from stead_sym.support.html import Displayed, table

MOST_VALUES = 100_000
"""The largest number of values that a sort may have in a restriction. No engine can explore more."""

_NO_OVERRIDES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Derivation:
    """The derivation of the size of (U_f)_S.

    ``bound`` is b_S, ``constants`` |C ∩ U_S|, ``variables`` var_S, attained by the specification ``spec``
    (None if no specification has a variable of the sort). ``size`` is the size in use. ``fresh`` is None for
    the theorem's literal domain; for representatives it is f_S, the most fresh values of the sort that one
    effect draws. ``last`` is how many values of the sort a step has that a state keeps: they need not be
    active (`deployment.history`).
    """

    sort: str
    bound: int
    constants: int
    variables: int
    spec: str | None
    finite: bool
    size: int
    fresh: int | None = None
    last: int = 0

    @property
    def required(self) -> int:
        """Return the size that is required.

        It is |U_S| of a finite sort, else 2·b_S + |C ∩ U_S| + var_S as the theorem requires and ``last``
        more. If fresh values have representatives, it is |C ∩ U_S| + b_S + f_S.
        """
        if self.finite:
            return self.constants
        if self.fresh is not None:
            return self.constants + self.bound + self.fresh
        return 2 * self.bound + self.constants + self.variables + self.last

    def __str__(self) -> str:
        """Return the size with the sum that gives it."""
        if self.finite:
            return f"{self.sort}: {self.size} (finite: kept in full)"
        if self.fresh is not None:
            sum_ = f"{self.constants} + {self.bound} + {self.fresh} = {self.required}"
            more = f", {self.size} to name them after others" * (self.size > self.required)
            return f"{self.sort}: {sum_} (constants + bound + fresh values of one effect){more}"
        origin = f", from {self.spec}" if self.spec is not None else ""
        more, of = (f" + {self.last}", " + values of the last step") if self.last else ("", "")
        sum_ = f"2·{self.bound} + {self.constants} + {self.variables}{more} = {self.required}"
        text = f"{self.sort}: {sum_} (2·bound + constants + variables{origin}{of})"
        if self.size == self.required:
            return text
        return f"{text}, set to {self.size}{', below the theorem' * (self.size < self.required)}"


@dataclass(frozen=True)
class Restriction(Displayed):
    """U_f: ``values`` per sort, constants first.

    ``exact``: every size is at least the theorem's, so that verdicts over U_f are verdicts over U.
    """

    values: Mapping[str, tuple[Value, ...]]
    derivation: Mapping[str, Derivation]
    exact: bool = True

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Return |(U_f)_S| of every sort."""
        return MappingProxyType({sort: len(values) for sort, values in self.values.items()})

    @cached_property
    def members(self) -> frozenset[Value]:
        """Return all values of U_f."""
        return frozenset(value for values in self.values.values() for value in values)

    def extended(self, values: Mapping[str, tuple[Value, ...]]) -> Restriction:
        """Return the same restriction with other value sets."""
        derivation = {s: replace(d, size=len(values[s])) for s, d in self.derivation.items()}
        return replace(self, values=MappingProxyType(dict(values)), derivation=MappingProxyType(derivation))

    def beyond(self, sort: str, number: int) -> tuple[Value, ...]:
        """Return ``number`` values of U_S outside U_f; none for a finite sort, which U_f has in full."""
        if self.derivation[sort].finite:
            return ()
        return tuple(islice(generated(sort, tuple(self.values), self.members), number))

    def __str__(self) -> str:
        """Return the derivations, one a line."""
        return "\n".join(str(derivation) for derivation in self.derivation.values())

    def _repr_html_(self) -> str:
        rows = [(d.sort, d.size, str(d).split(": ", 1)[1]) for d in self.derivation.values()]
        return table("", ("sort", "size", "derivation"), rows)


def around(deployment: Deployment, restriction: Restriction, *states: Instance) -> Restriction:
    """Return the values of some instances and the constants, as a restriction.

    A step between the instances, or from one of them, can depend on no others.
    """
    constants = deployment.constants
    active = {s: frozenset[Value]().union(*(state.active_domain[s] for state in states)) for s in constants}
    return restriction.extended(
        {s: (*known, *sorted(active[s].difference(known))) for s, known in constants.items()}
    )


def theorem_restriction(
    deployment: Deployment,
    specs: Sequence[Spec],
    overrides: Mapping[str, int] = _NO_OVERRIDES,
    force: bool = False,
) -> Restriction:
    """Return the restriction for checking ``specs`` together: |(U_f)_S| = 2·b_S + |C ∩ U_S| + var_S.

    ``overrides`` sets the size of some sorts. Raises `RestrictionError` for an unknown sort, for a finite
    sort with another size than its own, for a size that C does not fit into, for one above `MOST_VALUES`,
    and, unless ``force`` is set, for a size below the theorem's. Raises `Undecided` if the theorem itself
    requires more than `MOST_VALUES`.
    """
    _refuse_unbounded(deployment)
    schema = deployment.schema
    sorts = tuple(sort.name for sort in schema.sorts)
    for name in overrides:
        if name not in sorts:
            raise RestrictionError(f"domain {name}: there is no such sort; the sorts are {', '.join(sorts)}")
        if not isinstance(overrides[name], int) or isinstance(overrides[name], bool):
            raise RestrictionError(f"domain {name}={overrides[name]!r} is no whole number; give one")
    variables = {spec.name: variables_by_sort(spec.formula) for spec in specs}
    derivation = []
    for sort in schema.sorts:
        numbers = {spec: by_sort.get(sort.name, 0) for spec, by_sort in variables.items()}
        largest = max(numbers, key=numbers.__getitem__, default=None)
        number = 0 if largest is None else numbers[largest]
        derived = _derivation(deployment, sort, number, largest if number else None)
        size = overrides.get(sort.name, derived.required)
        _refuse(derived, size, force)
        _refuse_large(derived, size)
        derivation.append(replace(derived, size=size))
    return _restriction(deployment, derivation)


def normal_restriction(deployment: Deployment) -> Restriction:
    """Return the domain that suffices if fresh values have representatives: |C_S| + b_S + f_S values.

    The proof is in `symbolic.encode.representatives`. The specifications do not matter: values that only
    their variables have need no names there. Raises `Undecided` if that is more than `MOST_VALUES`.
    """
    _refuse_unbounded(deployment)
    fresh = fresh_values(deployment)
    derivation = [_derivation(deployment, s, fresh=fresh[s.name]) for s in deployment.schema.sorts]
    for derived in derivation:
        _refuse_large(derived, derived.size)
    return _restriction(deployment, derivation)


def _refuse_unbounded(deployment: Deployment) -> None:
    """Raise `InputError` if some sort has no bound: no finite domain suffices."""
    for sort in deployment.bounds:
        if sort in deployment.unbounded:
            raise InputError(
                f"this needs a bound, and the file says `bound {sort} any`; write `bound {sort} N` to ask it"
                " within N, or ask for every number by `stead-sym verify`, in Python by `st.deepen`",
                deployment.bound_spans.get(sort),
            )


def _derivation(
    deployment: Deployment, sort: Sort, variables: int = 0, spec: str | None = None, fresh: int | None = None
) -> Derivation:
    """Return the derivation for one sort, with the required size."""
    derived = Derivation(
        sort=sort.name,
        bound=deployment.bounds.get(sort.name, 0),
        constants=len(deployment.constants[sort.name]),
        variables=variables,
        spec=spec,
        finite=sort.values is not None,
        size=0,
        fresh=fresh,
        last=deployment.history.most_of_a_step(deployment.tools_and_events, sort.name),
    )
    return replace(derived, size=derived.required)


def _restriction(deployment: Deployment, derivation: Sequence[Derivation]) -> Restriction:
    """Return the restriction with the sizes of the derivations: per sort C ∩ U_S, then generated names."""
    sorts = tuple(d.sort for d in derivation)
    constants, taken = deployment.constants, deployment.all_constants
    values = {
        d.sort: (*constants[d.sort], *islice(generated(d.sort, sorts, taken), d.size - d.constants))
        for d in derivation
    }
    return Restriction(
        MappingProxyType(values),
        MappingProxyType({d.sort: d for d in derivation}),
        exact=all(d.size >= d.required for d in derivation),
    )


def fresh_values(deployment: Deployment) -> Mapping[str, int]:
    """Return f_S, the most fresh S-values that one alternative of an effect draws.

    An `ensure` may replace every value at once and thereby exceed the bound: b_S + 1.
    """
    most: Counter[str] = Counter()
    for tool in deployment.tools_and_events:
        for effect in tool.effects:
            most |= Counter(binder.sort for binder in effect.fresh)
            if effect.is_ensure:
                most |= Counter({sort: bound + 1 for sort, bound in deployment.bounds.items()})
    return most


def _refuse(derived: Derivation, size: int, force: bool) -> None:
    """Raise `RestrictionError` if ``size`` cannot be the size of the sort."""
    place = f"domain {derived.sort}={size}"
    if derived.finite:
        if size != derived.required:
            raise RestrictionError(
                f"{place}: the sort is finite and kept in full; leave it out, or give {derived.required}"
            )
    elif size < derived.constants:
        raise RestrictionError(
            f"{place}: below |C ∩ U_{derived.sort}| = {derived.constants}, and C must fit in;"
            f" give at least {derived.required}"
        )
    elif size < derived.required and not force:
        last = f" + {derived.last}" if derived.last else ""
        raise RestrictionError(
            f"{place}: the theorem asks for 2·{derived.bound} + {derived.constants} + {derived.variables}"
            f"{last} = {derived.required} values; give at least that, or force it and learn no verdict"
        )


def _refuse_large(derived: Derivation, size: int) -> None:
    """Raise an error if a sort would have more than `MOST_VALUES` generated values."""
    if derived.finite or size - derived.constants <= MOST_VALUES:
        return
    if size > derived.required:
        raise RestrictionError(
            f"domain {derived.sort}={size}: more than {MOST_VALUES:,} values are more than can be explored;"
            f" {derived.required} suffice"
        )
    raise Undecided(
        f"unknown: `bound {derived.sort} {derived.bound}` asks for {size:,} values of the sort, and more than"
        f" {MOST_VALUES:,} cannot be explored; lower the bound"
    )


def generated(sort: str, sorts: Sequence[str], taken: frozenset[Value]) -> Iterator[Value]:
    """Yield case1, case2, … without the names in ``taken``; two of ``sorts`` never get the same name."""
    prefixes = _prefixes(sorts)
    own = prefixes[sort]
    # With sorts named a and a1, the name a11 could be the eleventh of a or the first of a1: the
    # longer sort name has it.
    longer = [p for p in prefixes.values() if len(p) > len(own) and p.startswith(own)]
    for i in count(1):
        name = f"{own}{i}"
        if name not in taken and not any(
            name.startswith(p) and name.removeprefix(p).isdigit() for p in longer
        ):
            yield name


def _prefixes(sorts: Sequence[str]) -> Mapping[str, str]:
    """Return the lower-case name of each sort, or its own name if two sorts differ in case only."""
    lower = [sort.lower() for sort in sorts]
    return {s: small if lower.count(small) == 1 else s for s, small in zip(sorts, lower, strict=True)}
