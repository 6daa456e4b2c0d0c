"""Random deployments over data of awkward shapes, as texts: what deserves contexts at places, shared defaults
and one-hot vectors, and what only looks as if it did.

One decision: the data come first. Static relations are chains, cycles, loops, symmetric or not, functions,
over one sort twice or three sorts, and leave some records alone; tools, views and specifications are then
drawn over whatever is there, so that views cut through several joins, bulk statements read what they write,
and a policy names records that are otherwise alike. Nothing is repaired: a deployment may break its
definition.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

FINITE = {
    "kind": ("sort kind = { ka, kb } rigid", ("ka", "kb")),
    "tag": ("sort tag = { ta, tb }", ("ta", "tb")),
    "lev": ("sort lev = 0..1", ("0", "1")),
    "one": ("sort one = { only }", ("only",)),
}
_OPEN = {"rec": "r", "own": "o", "item": "i"}

Scope = Mapping[str, str]
"""The sorts of the variables that may be mentioned."""


def static_shape(seed: int, records: int | None = None) -> str:
    """The text of a deployment with one to three records, or so many; with a policy `p` unless it has two
    agents, `ann` and `bob`."""
    return _Shape(random.Random(seed), records).text()


class _Shape:
    def __init__(self, source: random.Random, records: int | None) -> None:
        self.source = source
        self.names = 0
        self.opened = ["rec", *(sort for sort in ("own", "item") if self.maybe(0.6))]
        self.finite = [sort for sort in FINITE if self.maybe(0.35)]
        self.empty = ["void"] if self.maybe(0.2) else []
        numbers = {"rec": records or self.one_of(1, 2, 2, 2, 3, 3)}
        self.values: dict[str, Sequence[str]] = {sort: FINITE[sort][1] for sort in self.finite}
        for sort in self.opened:
            number = numbers.get(sort) or self.one_of(1, 1, 2, 2, 3)
            self.values[sort] = [f"{_OPEN[sort]}{k}" for k in range(number)]
        self.relations: dict[str, tuple[str, ...]] = {}
        self.static: list[str] = []
        self.dynamic: list[str] = []
        self.facts: list[str] = []
        self.tools: dict[str, list[str]] = {}
        self.bounded = self.one_of(*self.opened) if self.maybe(0.3) else ""

    # draws

    def maybe(self, chance: float) -> bool:
        return self.source.random() < chance

    def one_of(self, *options):
        return self.source.choice(options)

    def new(self) -> str:
        self.names += 1
        return f"x{self.names}"

    @property
    def columns(self) -> list[str]:
        """The sorts that have values."""
        return [*self.opened, *self.finite]

    # data

    def text(self) -> str:
        self.draw_static()
        self.draw_dynamic()
        used = {arg for fact in self.facts for arg in fact[:-1].partition("(")[2].split(", ")}
        for sort in self.opened:  # a name that no fact of `init` holds is no constant
            self.values[sort] = [value for value in self.values[sort] if value in used]
        tools = [line for k in range(self.one_of(1, 2, 2, 3)) for line in self.tool(f"t{k}")]
        tools += self.tool("happen", "event") if self.maybe(0.3) else []
        tools += [*self.taking(), *self.idling()]
        lines = ["deployment shape"]
        lines += [f"sort {sort}" for sort in [*self.opened, *self.empty]]
        lines += [FINITE[sort][0] for sort in self.finite]
        for name, sorts in self.relations.items():
            keyed = [f"{sort}{' key' * (name == 'Kept' and not k)}" for k, sort in enumerate(sorts)]
            lines.append(f"relation {name}({', '.join(keyed)})")
        lines += [f"bound {self.bounded} {self.one_of(1, 1, 2)}"] if self.bounded else []
        lines += ["init", *(f"  {fact}" for fact in dict.fromkeys(self.facts))] if self.facts else []
        lines += tools
        if self.maybe(0.25) and len(self.tools) > 1:
            half, every = self.source.randrange(1, len(self.tools)), list(self.tools)
            own = (every[:half], every if self.maybe(0.3) else every[half:])
            for agent, names in zip(("ann", "bob"), own, strict=True):
                lines += [f"agent {agent}", f"  tools {', '.join(names)}"]
                lines += [f"  {view}" for view in self.views()]
        else:
            lines += [*self.views(), *self.policy()]
        return "\n".join([*lines, *(f"spec s{k}\n  {self.sentence()}" for k in range(2)), ""])

    def draw_static(self) -> None:
        for k in range(self.one_of(1, 1, 2, 2, 3)):
            match self.one_of("graph", "graph", "function", "unary", "some", "some"):
                case "graph":
                    sort = self.one_of(*self.opened)
                    sorts, facts = (sort, sort), self.graph(self.values[sort])
                case "function":
                    sort = self.one_of(*self.columns)
                    sorts = ("rec", sort)
                    facts = [
                        (v, self.one_of(*self.values[sort])) for v in self.values["rec"] if self.maybe(0.9)
                    ]
                case "unary":
                    sorts = (self.one_of(*self.columns),)
                    facts = [(v,) for v in self.values[sorts[0]] if self.maybe(0.6)]
                case _:
                    sorts = tuple(self.one_of(*self.columns) for _ in range(self.one_of(2, 2, 3)))
                    facts = [
                        tuple(self.one_of(*self.values[s]) for s in sorts)
                        for _ in range(self.one_of(1, 2, 4))
                    ]
            self.declare(self.static, f"S{k}", sorts, facts)
        self.declare(self.static, "Rec", ("rec",), [(v,) for v in self.values["rec"] if self.maybe(0.92)])

    def draw_dynamic(self) -> None:
        last = self.one_of(*self.finite, "rec")
        shapes = {
            "Mark": ("rec", self.one_of(*self.columns)),
            "Flag": (),
            "Pair": ("rec", "rec"),
            "Three": tuple(self.one_of(*self.columns) for _ in range(3)),
            "Is": (self.one_of(*self.columns),),
            "Kept": ("rec", last),
        }
        for name in ["Focus", *self.source.sample(list(shapes), self.one_of(1, 1, 2, 2))]:
            sorts, facts = shapes.get(name, ("rec",)), []
            if name == "Kept":
                facts = (
                    [(v, self.one_of(*self.values[last])) for v in self.values["rec"]]
                    if self.maybe(0.7)
                    else []
                )
            elif sorts and self.maybe(0.3):
                facts = [tuple(self.one_of(*self.values[sort]) for sort in sorts)]
            self.declare(self.dynamic, name, sorts, facts)
        if self.empty:
            self.declare(
                self.one_of(self.dynamic, self.static), "Nothing", self.one_of(("void",), ("rec", "void")), []
            )

    def declare(
        self, kind: list[str], name: str, sorts: tuple[str, ...], facts: Sequence[Sequence[str]]
    ) -> None:
        self.relations[name] = sorts
        kind.append(name)
        self.facts += [f"{name}({', '.join(args)})" for args in facts]

    def graph(self, values: Sequence[str]) -> list[tuple[str, str]]:
        n = len(values)
        every = [(a, b) for a in values for b in values]
        circle = [(values[k], values[(k + 1) % n]) for k in range(n)]
        match self.one_of("chain", "circle", "loops", "even", "loop and circle", "star", "odd", "all", "any"):
            case "chain":
                return circle[:-1] or circle
            case "circle":
                return circle
            case "loops":
                return [(v, v) for v in values if self.maybe(0.6)]
            case "even":
                half = [(a, b) for a, b in every if a < b and self.maybe(0.6)]
                return half + [(b, a) for a, b in half]
            case "loop and circle":
                return [*circle, (values[0], values[0])]
            case "star":
                return [(values[0], v) for v in values[1:]]
            case "odd":
                return [self.one_of((a, b), (b, a)) for a, b in every if a < b]
            case "all":
                return every
            case _:
                return [pair for pair in every if self.maybe(0.35)]

    # formulas

    def term(self, sort: str, scope: Scope, wild: bool = True) -> str | None:
        """A term of the sort: a variable where there is one, else a constant or `_`."""
        options = [name for name, of in scope.items() if of == sort] * 6
        options += [self.one_of(*values)] if (values := self.values.get(sort)) else []
        options += ["_"] * (3 if wild else 0)
        return self.one_of(*options) if options else None

    def atom(self, scope: Scope) -> str:
        name = self.one_of(*self.relations)
        return f"{name}({', '.join(self.term(sort, scope) or '_' for sort in self.relations[name])})"

    def formula(self, depth: int, scope: Scope) -> str:
        match self.one_of("atom", "atom", "not", "two", "two", "some", "some") if depth else "atom":
            case "atom" if scope and self.maybe(0.12):
                name = self.one_of(*scope)
                ordered = ("=", "!=", "<", ">=") if scope[name] == "lev" else ("=", "!=")
                return f"{name} {self.one_of(*ordered)} {self.term(scope[name], scope, wild=False)}"
            case "atom":
                return self.atom(scope)
            case "not":
                return f"~({self.formula(depth - 1, scope)})"
            case "two":
                parts = [self.formula(depth - 1, scope) for _ in range(2)]
                return f"(({parts[0]}) {self.one_of('&', '&', '|', '->', '<->')} ({parts[1]}))"
            case _:
                sort, name = self.one_of(*self.columns, *self.empty), self.new()
                word = self.one_of("exists", "exists", "forall", "atleast 2", "atmost 1", "exactly 1")
                among = "in" if word in ("exists", "forall") and sort in FINITE and self.maybe(0.3) else ":"
                inner = self.formula(depth - 1, {**scope, name: sort})
                return f"({word} {name}{' ' * (among == 'in')}{among} {sort}. {inner})"

    def sentence(self) -> str:
        return self.quantified(4, {}) if self.maybe(0.5) else self.temporal(4, {})

    def quantified(self, depth: int, scope: Scope) -> str:
        inner, words = dict(scope), []
        for _ in range(self.one_of(1, 1, 2)):
            name = self.new()
            inner[name] = self.one_of(*self.opened)
            words.append(f"{self.one_of('forall', 'exists')} {name}: {inner[name]}. ")
        return f"({''.join(words)}{self.temporal(depth - 1, inner)})"

    def temporal(self, depth: int, scope: Scope) -> str:
        def inner() -> str:
            return self.temporal(depth - 1, scope)

        match self.one_of(*"oooooouunt", "two", "more") if depth else "n":
            case "o":
                return f"{self.one_of('AG', 'EF', 'AF', 'EG', 'AX', 'EX')} ({inner()})"
            case "u":
                return f"{self.one_of('A', 'E')}[({inner()}) {self.one_of('U', 'W')} ({inner()})]"
            case "t":
                return f"~({inner()})"
            case "two":
                return f"(({inner()}) {self.one_of('&', '|', '->')} ({inner()}))"
            case "more":
                return self.quantified(depth, scope)
            case _:
                return self.formula(1, scope)

    # tools

    def taking(self) -> list[str]:
        """A tool, or an event, by which records come into hand, and one that puts them back."""
        free = self.one_of("", " & ~Focus(_)", " & (atmost 1 z: rec. Focus(z))")
        lines: list[str] = []
        if self.maybe(0.35):
            lines = ["tool take(p: rec)", f"  guard ~Focus(p){free}", "  effect", "    insert Focus(p)"]
            self.tools["take"] = ["rec"]
        elif self.maybe(0.6):
            kind = self.one_of("tool", "event")
            choice = "    choose p: rec where ~Focus(p) & (exists q: rec. p = q)"
            lines = [f"{kind} take()", f"  guard (exists q: rec. ~Focus(q)){free}", "  effect", choice]
            lines.append("    insert Focus(p)")
            if kind == "tool":
                self.tools["take"] = []
        if self.maybe(0.6):
            cleared = ", ".join(name for name in self.dynamic if name == "Focus" or self.maybe(0.7))
            effect = self.one_of(f"clear {cleared}", "delete Focus(p)", "clear Focus\n    insert Focus(p)")
            lines += ["tool close(p: rec)", "  guard Focus(p)", "  effect", f"    {effect}"]
            self.tools["close"] = ["rec"]
        return lines

    def idling(self) -> list[str]:
        if self.tools and self.maybe(0.2):
            return []
        self.tools["idle"] = []
        return ["tool idle()"]

    def tool(self, name: str, kind: str = "tool") -> list[str]:
        sorts = [
            self.one_of(*self.opened, *self.opened, *self.finite) for _ in range(self.one_of(0, 1, 1, 2, 2))
        ]
        scope = {self.new(): sort for sort in sorts}
        if kind == "tool":
            self.tools[name] = sorts
        lines = [f"{kind} {name}({', '.join(f'{x}: {sort}' for x, sort in scope.items())})"]
        guards = [f"({self.formula(2, scope)})"] if self.maybe(0.5) else []
        if (records := [x for x, sort in scope.items() if sort == "rec"]) and self.maybe(0.5):
            guards.append(
                self.one_of("Focus({})", "~Focus({})", "Rec({}) & ~Focus({})").replace("{}", records[0])
            )
        if self.maybe(0.25):
            guards.append(self.one_of("~Focus(_)", "(atmost 1 z: rec. Focus(z))", "Focus(_)"))
        ensures, draws = self.maybe(0.06), bool(self.bounded) and self.maybe(0.35)
        if draws and not ensures:
            others = " & ".join(f"z != {value}" for value in self.values[self.bounded]) or "true"
            guards.append(f"(atmost 0 z: {self.bounded}. {others})")
        lines += [f"  guard {' & '.join(guards)}"] if guards else []
        for number in range(self.one_of(1, 1, 1, 2)):
            when = f" when {self.formula(2, scope)}" if number and self.maybe(0.7) else ""
            lines.append(f"  effect{when}")
            body = (
                [self.ensured(scope)]
                if ensures
                else self.statements(scope, draws and not number, bool(number))
            )
            lines += [f"    {statement}" for statement in body]
        return lines

    def ensured(self, scope: Scope) -> str:
        name = self.one_of(*self.dynamic)
        args = [self.term(sort, scope, wild=False) for sort in self.relations[name]]
        said = self.one_of(f"empty({name})", f"same({name})")
        if None not in args and self.maybe(0.7):
            said = f"{self.one_of('', '~')}{name}'({', '.join(map(str, args))})"
        others = [
            self.one_of("same", "same", "empty") + f"({other})" for other in self.dynamic if other != name
        ]
        return "ensure " + " & ".join([said, *others, *(f"same({other})" for other in self.static)])

    def statements(self, scope: Scope, draws: bool, narrow: bool) -> list[str]:
        inner, lines = dict(scope), []
        if self.maybe(0.3):
            name = self.new()
            inner[name] = self.one_of(*self.columns)
            where = f" where {self.formula(1, inner)}" if narrow or self.maybe(0.4) else ""
            lines.append(f"choose {name}: {inner[name]}{where}")
        if draws:
            name = self.new()
            inner[name] = self.bounded
            lines.append(f"fresh {name}: {self.bounded}")
            lines += [f"insert Focus({name})"] if self.bounded == "rec" else []
        return lines + [self.statement(inner) for _ in range(self.one_of(1, 1, 2, 2, 3))]

    def statement(self, scope: Scope) -> str:
        name = self.one_of(*self.dynamic)
        sorts, kind = self.relations[name], self.source.random()
        args = [self.term(sort, scope, wild=False) for sort in sorts]
        if kind < 0.12 or None in args or name == "Nothing":
            return f"clear {', '.join(dict.fromkeys([name, self.one_of(*self.dynamic)]))}"
        if kind < 0.35 and sorts:
            return self.bulk(name, scope)
        if kind < 0.5:
            return f"delete {name}({', '.join(self.term(sort, scope) or '_' for sort in sorts)})"
        word = "set" if name == "Kept" and self.maybe(0.8) else "insert"
        return f"{word} {name}({', '.join(map(str, args))})"

    def bulk(self, name: str, scope: Scope) -> str:
        """A statement for all values of some columns; one variable may stand in two, another in none."""
        bound: dict[str, str] = {}
        args: list[str] = []
        for sort in self.relations[name]:
            term = self.term(sort, scope, wild=False)
            same = [x for x, of in bound.items() if of == sort]
            if same and self.maybe(0.2):
                args.append(self.one_of(*same))
            elif term is None or self.maybe(0.65):
                bound[new := self.new()] = sort
                args.append(new)
            else:
                args.append(term)
        if not bound or self.maybe(0.15):
            bound[self.new()] = self.one_of(*self.opened)
        where = f" where {self.formula(2, {**scope, **bound})}" if self.maybe(0.85) else ""
        word, binders = (
            self.one_of("insert", "insert", "delete"),
            ", ".join(f"{x}: {s}" for x, s in bound.items()),
        )
        return f"{word} {name}({', '.join(args)}) for {binders}{where}"

    # agents

    def policy(self) -> list[str]:
        """Some rules, in which a record may be named, and then every tool."""
        lines = ["policy p"]
        for name in [self.one_of(*self.tools) for _ in range(self.one_of(1, 2, 3))]:
            scope: dict[str, str] = {}
            args = []
            for sort in self.tools[name]:
                if self.values[sort] and self.maybe(0.35):
                    args.append(self.one_of(*self.values[sort]))
                else:
                    scope[new := self.new()] = sort
                    args.append(new)
            when = f" when {self.formula(2, scope)}" if self.maybe(0.7) else ""
            lines.append(f"  call {name}({', '.join(args)}){when}")
        every = ((name, ", ".join(self.new() for _ in sorts)) for name, sorts in self.tools.items())
        return [*lines, *(f"  call {name}({args})" for name, args in every)]

    def views(self) -> list[str]:
        if self.maybe(0.15):
            return []
        lines = []
        for name, sorts in self.relations.items():
            if name != "Focus" and self.maybe(0.15):
                continue
            scope = {self.new(): sort for sort in sorts}
            cuts = [self.cut(scope) for _ in range(self.one_of(1, 1, 1, 2))] if name != "Focus" else ["true"]
            lines.append(f"view {name}({', '.join(scope)}) where {' | '.join(f'({cut})' for cut in cuts)}")
        return lines

    def cut(self, scope: Scope) -> str:
        """Return what is shown of a relation: often what some static facts link to a record in hand."""
        if not scope or self.maybe(0.25):
            return self.formula(2, scope)
        linked, atoms = dict(scope), []
        for _ in range(self.one_of(0, 1, 2, 3)):
            links = [
                (name, k, x)
                for name in self.static
                for k, sort in enumerate(self.relations[name])
                for x, of in linked.items()
                if of == sort
            ]
            if not links:
                break
            name, place, term = self.one_of(*links)
            args = [term if k == place else self.new() for k in range(len(self.relations[name]))]
            linked |= dict(zip(args, self.relations[name], strict=True))
            atoms.append(f"{name}({', '.join(args)})")
        records = [x for x, sort in linked.items() if sort == "rec"]
        atoms.append(f"Focus({self.one_of(*records)})" if records else self.formula(1, scope))
        bound = ", ".join(f"{x}: {sort}" for x, sort in linked.items() if x not in scope)
        return f"(exists {bound}. {' & '.join(atoms)})" if bound else " & ".join(atoms)
