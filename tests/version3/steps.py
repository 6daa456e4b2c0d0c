"""The calls of a state, their agents, and the states that they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from language3 import (
    Agent,
    Binder,
    Choose,
    Clear,
    Deployment,
    Effect,
    Formula,
    Fresh,
    Rule,
    SetColumn,
    Tool,
    Value,
    Var,
    Write,
)
from truth import Assignment, Call, Datum, Env, Fact, Facts, Reading, Truths


class Steps(Truths):
    """A deployment with its agents (each ``any`` or a policy), the gates given, and its values."""

    def __init__(
        self,
        d: Deployment,
        pasts: list[Formula],
        agents: Mapping[str, str],
        gates: tuple[str, ...],
        domain: Mapping[str, tuple[Datum, ...]],
    ) -> None:
        super().__init__(d, pasts)
        self.agents, self.gates, self.domain = agents, gates, domain

    # What is offered, allowed, selected, enabled.

    def calls(self, tool: Tool, at: Reading) -> Iterator[Call]:
        """The calls whose guard is true: over active values, of finite sorts over all listed ones."""
        ranges = [
            self.range(Binder(param, declared=self.d.sort[param.sort].values is not None), at)
            for param in tool.params
        ]
        for values in product(*ranges):
            if self.holds(tool.guard, at, dict(zip(tool.params, values, strict=True))):
                yield tool.name, values

    def fits(self, rule: Rule, call: Call, at: Reading) -> bool:
        """Return if a line of a policy or gate matches a call."""
        if rule.tool != call[0]:
            return False
        env: dict[Var, Datum] = {}
        for term, value in zip(rule.args, call[1], strict=True):
            match term:
                case Var():
                    if env.setdefault(term, value) != value:
                        return False
                case Value(constant):
                    if constant != value:
                        return False
        return self.holds(rule.when, at, env)

    def is_allowed(self, call: Call, at: Reading) -> bool:
        """No given gate forbids it, and each that permits anything permits it."""
        for name, rules in self.d.gates:
            if name in self.gates:
                permits = [rule for rule in rules if rule.word == "permit"]
                forbids = [rule for rule in rules if rule.word == "forbid"]
                if any(self.fits(rule, call, at) for rule in forbids):
                    return False
                if permits and not any(self.fits(rule, call, at) for rule in permits):
                    return False
        return True

    def offered(self, agent: Agent, at: Reading) -> list[Call]:
        tools = [self.d.tool[name] for name in agent.tools]
        return [call for tool in tools for call in self.calls(tool, at) if self.is_allowed(call, at)]

    def shown(self, agent: Agent, calls: list[Call], at: Reading) -> Reading:
        """Return what the agent sees: facts by its views, and as values those of them and of the calls."""
        facts = at.facts
        if agent.views:
            facts = frozenset(
                (relation, row)
                for relation, row in at.facts
                for view in agent.views
                if view.relation == relation
                and self.holds(view.where, at, dict(zip(view.args, row, strict=True)))
            )
        active = {sort: set(values) for sort, values in self.active(facts).items()}
        for name, args in calls:
            for param, value in zip(self.d.tool[name].params, args, strict=True):
                active[param.sort].add(value)
        return Reading(facts, {sort: frozenset(values) for sort, values in active.items()}, at.state)

    def selected(self, agent: Agent, calls: list[Call], at: Reading) -> list[Call]:
        """All calls under any agent; by a policy those that its first line with a match matches."""
        kind = self.agents[agent.name]
        if kind == "any":
            return calls
        sees = self.shown(agent, calls, at)
        for rule in dict(agent.policies)[kind]:
            found = [call for call in calls if self.fits(rule, call, sees)]
            if found:
                return found
        return []

    # Effects.

    def outcomes(self, call: Call, at: Reading) -> Iterator[Facts | None]:
        """The databases that a call leads to; None stands for an outcome that writes a value out of range.

        Fresh values are of U_f, or further ones: a database that holds these is no state of the restriction,
        but it may break a bound.
        """
        tool = self.d.tool[call[0]]
        env = dict(zip(tool.params, call[1], strict=True))
        if not tool.effects:
            yield at.facts
        for effect in tool.effects:
            if effect.when is None or self.holds(effect.when, at, env):
                for chosen in self.choices(effect, 0, at, env, frozenset()):
                    yield self.applied(effect, at, chosen)

    def choices(
        self, effect: Effect, i: int, at: Reading, env: Env, taken: frozenset[tuple[str, Datum]]
    ) -> Iterator[Env]:
        """The values of `choose` and `fresh`, from statement i on; ``taken`` are the fresh ones so far."""
        if i == len(effect.statements):
            yield env
            return
        match effect.statements[i]:
            case Choose(var, where):
                for value in sorted({*at.active[var.sort], *self.d.constants(var.sort)}, key=str):
                    if self.holds(where, at, {**env, var: value}):
                        yield from self.choices(effect, i + 1, at, {**env, var: value}, taken)
            case Fresh(var):
                fresh = sum(isinstance(s, Fresh) and s.var.sort == var.sort for s in effect.statements)
                pool = [*self.domain[var.sort], *(f"{var.sort}_more{n}" for n in range(fresh))]
                used = {*at.active[var.sort], *self.d.constants(var.sort)}
                for value in pool:
                    if value not in used and (var.sort, value) not in taken:
                        yield from self.choices(
                            effect, i + 1, at, {**env, var: value}, taken | {(var.sort, value)}
                        )
            case _:
                yield from self.choices(effect, i + 1, at, env, taken)

    def applied(self, effect: Effect, at: Reading, env: Env) -> Facts | None:
        """D minus what the statements delete, plus what they insert; all are read in D."""
        deleted: set[Fact] = set()
        inserted: set[Fact] = set()
        columns: dict[tuple[str, Assignment], dict[int, set[Datum]]] = {}

        def keys(name: str) -> list[int]:
            return [i for i, column in enumerate(self.d.relation[name].columns) if column.key]

        def same_key(name: str, key: Assignment) -> set[Fact]:
            return {
                fact for fact in at.facts if fact[0] == name and tuple(fact[1][i] for i in keys(name)) == key
            }

        for statement in effect.statements:
            match statement:
                case Write(word, atom, binders, where):
                    name = atom.relation
                    for e in self.tuples(tuple(map(Binder, binders)), at, env):
                        if not self.holds(where, at, e):
                            continue
                        if word == "delete":
                            deleted |= {
                                fact
                                for fact in at.facts
                                if fact[0] == name and self.matches(atom.args, fact[1], at, e)
                            }
                            continue
                        row = tuple(self.value(term, at, e) for term in atom.args)
                        inserted.add((name, row))
                        if word == "set":
                            deleted |= same_key(name, tuple(row[i] for i in keys(name)))
                case SetColumn(name, key, column, term, binders, where):
                    number = [c.name for c in self.d.relation[name].columns].index(column)
                    for e in self.tuples(tuple(map(Binder, binders)), at, env):
                        if self.holds(where, at, e):
                            values = tuple(self.value(k, at, e) for k in key)
                            changed = columns.setdefault((name, values), {})
                            changed.setdefault(number, set()).add(self.value(term, at, e))
                case Clear(relations):
                    deleted |= {fact for fact in at.facts if fact[0] in relations}
        for (name, key), changed in columns.items():
            for fact in same_key(name, key):
                deleted.add(fact)
                rows = product(*(sorted(changed.get(i, {v}), key=str) for i, v in enumerate(fact[1])))
                inserted |= {(name, row) for row in rows}
        if any(self.is_out_of_range(fact) for fact in inserted):
            return None
        return at.facts - deleted | inserted

    def is_out_of_range(self, fact: Fact) -> bool:
        columns = self.d.relation[fact[0]].columns
        listed = [self.d.sort[column.sort].values for column in columns]
        return any(
            values is not None and value not in values for values, value in zip(listed, fact[1], strict=True)
        )

    # Claims.

    def broken(self, facts: Facts) -> str | None:
        """Return what kind of claim the database breaks first: bounds, then keys, then references."""
        bounds, active = dict(self.d.bounds), self.active(facts)
        for sort in self.d.sorts:
            if sort.values is None:
                more = active[sort.name] - set(self.d.constants(sort.name))
                if len(more) > bounds.get(sort.name, 0):
                    return f"bound {sort.name}"
        for relation in self.d.relations:
            numbers = [i for i, column in enumerate(relation.columns) if column.key]
            rows = [row for name, row in facts if name == relation.name]
            if numbers and len({tuple(row[i] for i in numbers) for row in rows}) < len(rows):
                return "key"
        for relation in self.d.relations:
            for i, column in enumerate(relation.columns):
                here = {row[i] for name, row in facts if name == relation.name}
                if column.references is not None and not here <= self.key_values(column.references, facts):
                    return "reference"
            if relation.total is not None:
                wanted = self.key_values(relation.total, facts)
                [key] = [c.sort for c in self.d.relation[relation.total].columns if c.key]
                [i] = [i for i, column in enumerate(relation.columns) if column.key and column.sort == key]
                if not wanted <= {row[i] for name, row in facts if name == relation.name}:
                    return "reference"
        return None

    def key_values(self, name: str, facts: Facts) -> set[Datum]:
        [i] = [i for i, column in enumerate(self.d.relation[name].columns) if column.key]
        return {row[i] for relation, row in facts if relation == name}
