"""Deployments with an `ensure` around the bound, and a search for their leaps over more names than decide it.

The search shares nothing with the engines but the syntax and the successors within the bounds: D' has a bit
for each fact over ad(D), C and more new values than the paper-and-pencil bound q · (k + b + 1) asks for.
"""

from __future__ import annotations

from itertools import product
from random import Random

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import Restriction, around, theorem_restriction
from stead_sym.deployment.semantics import breaks_claim, outcomes, possible, within
from stead_sym.deployment.tool import Call, Ensure
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.logic.evaluate import compares, declared, holds, value_of
from stead_sym.relational.instance import Fact, Instance

SCHEMAS = (
    ("P(a)", "Q(a)"),
    ("P(a)", "Q(a)", "F()"),
    ("P(a)", "R(a, a)"),
    ("P(a)", "R(a, a)", "S(a, k)"),
    ("P(a)", "W(a, b)"),
    ("P(a)", "B(b)", "W(a, b)"),
    ("S(a, k)", "Q(a)"),
    ("P(a)", "T(a, b, k)"),
    ("P(a)", "T(a, a, a)"),
)


class Generator:
    """Random deployments; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.relations = dict(self._parsed(line) for line in self.random.choice(SCHEMAS))
        self.sorts = sorted({s for columns in self.relations.values() for s in columns} & {"a", "b"})
        wide = any(columns.count("a") > 1 for columns in self.relations.values())
        self.bounds = {s: self.random.choice((0, 1) if wide else (0, 1, 1, 2)) for s in self.sorts}
        self.constant = self.random.random() < 0.25
        self.names = 0

    @staticmethod
    def _parsed(line: str) -> tuple[str, tuple[str, ...]]:
        name, columns = line.rstrip(")").split("(")
        return name, tuple(c.strip() for c in columns.split(",") if c)

    def text(self) -> str:
        """The deployment as text."""
        unary = [name for name, columns in self.relations.items() if columns == ("a",)]
        lines = ["deployment d", f"sort {', '.join(self.sorts)}"]
        if any("k" in columns for columns in self.relations.values()):
            lines.append("sort k = { k1, k2 }")
        lines += [f"relation {name}({', '.join(columns)})" for name, columns in self.relations.items()]
        lines += ["init", *([f"  {unary[0]}(c)"] if self.constant and unary else [])]
        self.constant = self.constant and bool(unary)
        lines += [f"bound {sort} {bound}" for sort, bound in self.bounds.items() if bound]
        lines.append("tool rest()")
        if unary and self.bounds["a"]:
            full = f"atmost {self.bounds['a'] - 1} x: a. {'x != c' if self.constant else 'true'}"
            lines += [
                "tool fill()",
                f"  guard {full}",
                "  effect",
                "    fresh x: a",
                f"    insert {unary[0]}(x)",
            ]
        param = self.random.random() < 0.3
        lines.append(f"tool jump({'p: a' if param else ''})")
        if self.random.random() < 0.8:
            lines.append("  effect")
        scope = {"p": "a"} if param else {}
        parts = [self.part(scope) for _ in range(self.random.randint(1, 4))]
        lines += ["  effect", "    ensure " + " & ".join(f"({part})" for part in parts)]
        return "\n".join([*lines, "spec asked AG true", ""])

    # formulas

    def part(self, scope: dict[str, str]) -> str:
        r = self.random
        relation = r.choice(list(self.relations))
        kind = r.choice(
            (
                "same",
                "empty",
                "count",
                "count",
                "some",
                "every",
                "every",
                "old",
                "or",
                "any",
                "apart",
                "frame",
            )
        )
        match kind:
            case "same" | "empty":
                return f"{kind}({relation})"
            case "count":
                x, sort = self.variable()
                return f"{self.counting()} {x}: {sort}. {self.literals({**scope, x: sort}, 2, x)}"
            case "some":
                x, sort = self.variable()
                inner = {**scope, x: sort}
                return f"exists {x}: {sort}. {self.literals(inner, 2, x)} & {self.each(inner)}"
            case "every":
                return self.each(scope)
            case "old":
                x, sort = self.variable("a")
                unary = [name for name, columns in self.relations.items() if columns == (sort,)]
                if not unary:
                    return self.each(scope)
                return (
                    f"forall {x}: {sort}. ({r.choice(unary)}({x}) -> {self.needing({**scope, x: sort}, x)})"
                )
            case "or":
                op = r.choice(("|", "|", "<->", "->"))
                return f"({self.part(scope)}) {op} ({self.part(scope)})"
            case "apart":
                x, sort = self.variable()
                return f"forall {x}: {sort}. ({self.held(x, sort, False)} -> ~{self.held(x, sort, True)})"
            case "frame":
                return self.frame(relation, scope)
            case _:
                return self.formula(scope, 2)

    def counting(self) -> str:
        return f"{self.random.choice(('exactly', 'atleast', 'atmost'))} {self.random.randint(0, 4)}"

    def each(self, scope: dict[str, str]) -> str:
        x, sort = self.variable()
        inner = {**scope, x: sort}
        if self.random.random() < 0.5:
            y, other = self.variable()
            inner[y] = other
            return f"forall {x}: {sort}. forall {y}: {other}. ({self.literals(inner, 3, x)})"
        return f"forall {x}: {sort}. ({self.literals(inner, 3, x)})"

    def needing(self, scope: dict[str, str], x: str) -> str:
        y, sort = self.variable()
        quantifier = self.random.choice(("exists", "atleast 2", "exactly 1"))
        return f"{quantifier} {y}: {sort}. {self.literals({**scope, y: sort}, 2, y)}"

    def frame(self, relation: str, scope: dict[str, str]) -> str:
        columns = self.relations[relation]
        if not columns:
            return f"{relation}'() <-> ~{relation}()"
        names = [self.name() for _ in columns]
        heads = ", ".join(f"{x}: {s}" for x, s in zip(names, columns, strict=True))
        inner = dict(zip(names, columns, strict=True))
        fact = f"({', '.join(names)})"
        op = self.random.choice(("->", "<->"))
        more = self.literals({**scope, **inner}, 2, names[0])
        heads = "".join(f"forall {head}. " for head in heads.split(", "))
        return f"{heads}({relation}'{fact} {op} {relation}{fact} | {more})"

    def literals(self, scope: dict[str, str], most: int, x: str) -> str:
        r = self.random
        found = [self.literal(scope, x) for _ in range(r.randint(1, most))]
        text = found[0]
        for more in found[1:]:
            text = f"({text} {r.choice('&|')} {more})"
        return text

    def literal(self, scope: dict[str, str], x: str) -> str:
        r = self.random
        same = [y for y, sort in scope.items() if sort == scope.get(x) and y != x]
        if self.constant and scope.get(x) == "a":
            same.append("c")
        if r.random() < 0.2 and same:
            return f"{x} {r.choice(('=', '!='))} {r.choice(same)}"
        negated = "~" if r.random() < 0.35 else ""
        return negated + self.held(x, scope.get(x, "a"), r.random() < 0.75, scope)

    def held(self, x: str, sort: str, primed: bool, scope: dict[str, str] | None = None) -> str:
        r = self.random
        choices = [name for name, columns in self.relations.items() if sort in columns]
        if not choices:
            return "true"
        relation = r.choice(choices)
        columns = self.relations[relation]
        at = r.choice([k for k, own in enumerate(columns) if own == sort])
        args = [x if k == at else self.term(own, scope or {}) for k, own in enumerate(columns)]
        return f"{relation}{chr(39) * primed}({', '.join(args)})"

    def term(self, sort: str, scope: dict[str, str]) -> str:
        known = [y for y, own in scope.items() if own == sort]
        if sort == "k":
            known += ["k1", "k2"]
        return self.random.choice(known) if known and self.random.random() < 0.75 else "_"

    def formula(self, scope: dict[str, str], depth: int) -> str:
        r = self.random
        if depth == 0:
            known = [x for x, sort in scope.items()]
            return self.literal(scope, r.choice(known)) if known else "true"
        match r.choice(("all", "all", "some", "not", "and", "count")):
            case "all" | "some" | "count" as kind:
                x, sort = self.variable()
                word = {"all": "forall", "some": "exists"}.get(kind) or self.counting()
                return f"({word} {x}: {sort}. {self.formula({**scope, x: sort}, depth - 1)})"
            case "not":
                return f"~({self.formula(scope, depth - 1)})"
            case _:
                op = r.choice(("&", "|", "->", "<->"))
                return f"({self.formula(scope, depth - 1)} {op} {self.formula(scope, depth - 1)})"

    def variable(self, sort: str | None = None) -> tuple[str, str]:
        every = sorted({s for columns in self.relations.values() for s in columns})
        weighted = [s for s in every for _ in range(1 if s == "k" else 3)]
        return self.name(), sort or self.random.choice(weighted)

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"


class Search:
    """All D' from one state over so many new names, as a diagram over their facts."""

    def __init__(self, deployment: Deployment, state: Instance, names: int, restriction: Restriction) -> None:
        self.deployment, self.state, self.m = deployment, state, Manager()
        near = around(deployment, restriction, state)
        self.domain = {s: (*known, *near.beyond(s, names)) for s, known in near.values.items()}
        facts = sorted(
            (
                Fact(relation.name, args)
                for relation in deployment.schema.relations
                for args in product(*(self.domain[s] for s in relation.sorts))
            ),
            key=lambda fact: (
                max((sum(self.domain.values(), ()).index(u) for u in fact.args), default=0),
                fact,
            ),
        )
        self.m.declare_bottom(map(str, facts))
        self.after = {fact: self.m.var(str(fact)) for fact in facts}

    @property
    def facts(self) -> int:
        return len(self.after)

    def is_after(self, sort: str, value: str):
        where = self.deployment.schema.relation
        return self.m.disj(
            bit
            for fact, bit in self.after.items()
            if (sort, value) in zip(where(fact.relation).sorts, fact.args, strict=True)
        )

    def exceeding(self):
        m, d = self.m, self.deployment
        return m.disj(
            m.at_least(b + 1, [self.is_after(s, u) for u in d.outside(s, self.domain[s])])
            for s, b in d.bounds.items()
        )

    def read(self, f, sigma):
        m = self.m

        def members(binder, body):
            if binder.declared:
                return [
                    self.read(body, {**sigma, binder.name: u}) for u in declared(self.state.schema, binder)
                ]
            old = self.state.active_domain[binder.sort]
            return [
                (m.true if u in old else self.is_after(binder.sort, u))
                & self.read(body, {**sigma, binder.name: u})
                for u in self.domain[binder.sort]
            ]

        def truth(value):
            return m.true if value else m.false

        match f:
            case fo.Truth(value):
                return truth(value)
            case fo.Equal(left, right):
                return truth(value_of(left, sigma) == value_of(right, sigma))
            case fo.Compare(_, left, right):
                return truth(compares(f, value_of(left, sigma), value_of(right, sigma), self.state.schema))
            case fo.Atom(relation, args, primed):
                fact = Fact(relation, tuple(value_of(t, sigma) for t in args))
                return self.after[fact] if primed else truth(fact in self.state)
            case fo.Not(body):
                return ~self.read(body, sigma)
            case fo.And(parts):
                return m.conj(self.read(part, sigma) for part in parts)
            case fo.Or(parts):
                return m.disj(self.read(part, sigma) for part in parts)
            case fo.Implies(left, right):
                return ~self.read(left, sigma) | self.read(right, sigma)
            case fo.Iff(left, right):
                return self.read(left, sigma).equiv(self.read(right, sigma))
            case fo.Exists(binder, body):
                return m.disj(members(binder, body))
            case fo.Forall(binder, body):
                return ~m.disj(members(binder, fo.Not(body)))
            case fo.Count(comparison, number, binder, body):
                found = members(binder, body)
                least, most = m.at_least(number, found), ~m.at_least(number + 1, found)
                return {"atleast": least, "atmost": most, "exactly": least & most}[comparison]
            case fo.Same(relation):
                own = [(fact, bit) for fact, bit in self.after.items() if fact.relation == relation]
                return m.conj(bit if fact in self.state else ~bit for fact, bit in own)
            case fo.Empty(relation):
                return m.conj(~bit for fact, bit in self.after.items() if fact.relation == relation)


def expected(deployment: Deployment, names: int, most_states: int = 400) -> set[str] | None:
    """Return what the steps of `jump` from the states within the bounds come to: "BoundExceeded",
    "NoEffect"; None where there are too many states or facts to look at."""
    restriction = theorem_restriction(deployment, deployment.specs)
    todo, seen, found = [deployment.init], {deployment.init}, set()
    [jump] = (tool for tool in deployment.tools if tool.name == "jump")
    while todo:
        state = todo.pop()
        for call in possible(deployment, state):
            if call.tool == "jump":
                shown = _jumps(deployment, jump, call, state, names, restriction)
                if shown is None:
                    return None
                found |= shown
            for after in outcomes(deployment, call, state, restriction):
                if after not in seen and within(restriction, after) and not breaks_claim(deployment, after):
                    seen.add(after)
                    todo.append(after)
            if len(seen) > most_states:
                return None
    return found


def _jumps(deployment, jump, call: Call, state, names, restriction) -> set[str] | None:
    sigma = {p.name: u for p, u in zip(jump.params, call.args, strict=True)}
    search = Search(deployment, state, names, restriction)
    if search.facts > 400:
        return None
    found, effective = set[str](), False
    for effect in jump.effects:
        if not effect.is_ensure:
            effective = True
            continue
        asked = fo.conjunction(tuple(s.formula for s in effect.statements if isinstance(s, Ensure)))
        pairs = search.read(asked, sigma)
        effective = effective or pairs != search.m.false
        if pairs & search.exceeding() != search.m.false:
            found.add("BoundExceeded")
    assert holds(jump.guard, state, sigma)
    return found if effective else found | {"NoEffect"}


def case(seed: int) -> Deployment:
    return parse_deployment(Generator(seed).text())
