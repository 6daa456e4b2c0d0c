"""Name generated values in output: per sort from 1, in the order in which they first appear.

The names that engines generate have no meaning. A permutation of the generated values, the same for the whole
run, is an isomorphism that fixes C (Definition "C-isomorphism"). So it maps a run to a run, as long as it
also fixes the values that an agent knows by name.

One decision: the facts of a state are ordered by the names given so far (`Naming.state`), so that names that
are in order already stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import generated
from stead_sym.deployment.trace import Step, Trace
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value, is_numeral


class Naming:
    """The renaming ι of the generated values met up to now.

    Values of C and the ``kept`` ones keep their names.
    """

    def __init__(self, deployment: Deployment, kept: frozenset[Value]) -> None:
        self._deployment = deployment
        self._fixed = kept | deployment.all_constants
        sorts = tuple(sort.name for sort in deployment.schema.sorts)
        self._names: dict[str, Iterator[Value]] = {s: generated(s, sorts, self._fixed) for s in sorts}
        self._seen: set[Fact] = set()
        self.renaming: dict[Value, Value] = {}

    def state(self, state: Instance) -> None:
        """Name the values of a state, next those of the least fact by relation and arguments.

        In the order of arguments constants come first, then named values in the order of their names, then
        others.
        """
        unnamed = [fact for fact in state.facts - self._seen if self._unnamed(fact.args)]
        self._seen |= state.facts
        while unnamed:
            fact = min(unnamed, key=lambda one: (one.relation, *map(self._rank, one.args)))
            self._name(fact.args, state.schema.relation(fact.relation).sorts)
            unnamed = [one for one in unnamed if self._unnamed(one.args)]

    def step(self, step: Step) -> None:
        """Name the values of a call, then those of the state after it."""
        params = self._deployment.tool(step.call.tool).params
        self._name(step.call.args, [param.sort for param in params])
        self.state(step.state)

    def _unnamed(self, values: Iterable[Value]) -> bool:
        return any(not self._is_fixed(value) and value not in self.renaming for value in values)

    def _is_fixed(self, value: Value) -> bool:
        """Return whether a value keeps its name; an integer does, even one that its sort does not have."""
        return value in self._fixed or is_numeral(value)

    def _name(self, values: Sequence[Value], sorts: Sequence[str]) -> None:
        for value, sort in zip(values, sorts, strict=True):
            if not self._is_fixed(value) and value not in self.renaming:
                self.renaming[value] = next(self._names[sort])

    def _rank(self, value: Value) -> tuple[int, int, Value]:
        if self._is_fixed(value):
            return 0, 0, value
        name = self.renaming.get(value)
        return (2, len(value), value) if name is None else (1, len(name), name)


def naming(deployment: Deployment, kept: frozenset[Value], run: Trace) -> Naming:
    """Return the naming of the values that appear in a run."""
    renaming = Naming(deployment, kept)
    renaming.state(run.start)
    for step in run.steps:
        renaming.step(step)
    return renaming


def named_run(
    deployment: Deployment, kept: frozenset[Value], run: Trace
) -> tuple[Trace, Mapping[Value, Value]]:
    """Return ι of a run without bindings, and ι. The claim of the run, a text, is left out."""
    renaming = naming(deployment, kept, run).renaming
    steps = tuple(
        replace(step, call=step.call.rename(renaming), state=step.state.rename(renaming))
        for step in run.steps
    )
    return replace(run, start=run.start.rename(renaming), steps=steps, claim=""), renaming
