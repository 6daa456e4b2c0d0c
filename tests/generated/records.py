"""Deployments in and around the fragment for every number of records, small and mostly alive."""

from __future__ import annotations

from random import Random

RELATIONS = {"P": "a", "Q": "a", "S": "a, k", "R": "a, a", "T": "a, b", "B": "b", "F": "", "G": ""}
KEYED = {"S": "a key, k", "T": "a key, b", "R": "a key, a"}


class Maker:
    """Texts of deployments, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        own = [name for name in RELATIONS if name not in "TB" or self.random.random() < 0.3]
        self.relations = {"S": "a, k", "F": "", **{n: RELATIONS[n] for n in own if self.chance(0.55)}}
        if self.chance(0.3):
            self.relations.pop("R", None)
        self.tools: dict[str, list[str]] = {"birth": []}
        self.keyed = {name for name in self.relations if name in KEYED and self.chance(0.4)}

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def term(self, sort: str, scope: dict[str, str], constants: bool = True) -> str:
        known = [name for name, own in scope.items() if own == sort]
        if sort == "k":
            known = [*known, "u", "v", "w"]
        if sort == "a" and constants and self.constant and self.chance(0.15):
            return "c0"
        return self.random.choice(known) if known else "_"

    def atom(self, scope: dict[str, str], needs: str = "") -> str:
        """An atom; ``needs`` a variable in it, if a relation has a column for it."""
        names = [n for n in self.relations if not needs or scope[needs] in self.sorts(n)]
        name = self.random.choice(names or list(self.relations))
        args = [self.term(sort, scope) for sort in self.sorts(name)]
        if needs and needs not in args and scope[needs] in self.sorts(name):
            args[self.sorts(name).index(scope[needs])] = needs
        return f"{name}({', '.join(args)})"

    def sorts(self, relation: str) -> list[str]:
        return self.relations[relation].split(", ") if self.relations[relation] else []

    def literal(self, scope: dict[str, str], needs: str = "") -> str:
        same = [n for n, s in scope.items() if s == "a"]
        if len(same) > 1 and self.chance(0.2):
            x, y = self.random.sample(same, 2)
            return f"{x} {self.random.choice(['=', '!='])} {y}"
        return "~" * self.chance(0.4) + self.atom(scope, needs)

    def condition(self, scope: dict[str, str], depth: int = 1) -> str:
        """A formula, mostly of the fragment."""
        roll = self.random.random()
        if depth == 0 or roll < 0.5:
            return self.literal(scope)
        if roll < 0.6:
            join = self.random.choice(["&", "|", "->", "<->"])
            return f"({self.condition(scope, depth - 1)} {join} {self.condition(scope, depth - 1)})"
        name, sort = f"x{len(scope)}", self.random.choice(["a", "a", "a", "k"])
        inner = {**scope, name: sort}
        body = self.literal(inner, name)
        if self.chance(0.5):
            body = f"({body} {self.random.choice(['&', '|'])} {self.condition(inner, depth - 1)})"
        quantifier = self.random.choice(["exists", "exists", "forall", "~exists", "atmost 1", "atleast 2"])
        return f"({quantifier} {name}: {sort}. {body})"

    def effect(self, params: dict[str, str]) -> str:
        scope, lines = dict(params), []
        if self.chance(0.2):
            lines.append(f"when {self.condition(scope)}")
        if self.chance(0.15):
            sort = self.random.choice(["a", "k"])
            scope["z"] = sort
            lines.append(f"choose z: {sort}" + f" where {self.condition(scope)}" * self.chance(0.6))
        if self.chance(0.45):
            scope["n"] = "a"
            lines.append("fresh n: a")
        if "T" in self.relations and self.chance(0.3):
            scope["nb"] = "b"
            lines.append("fresh nb: b")
        for fresh in set(scope) & {"n", "nb"}:
            lines.append(f"insert {self.filled(scope, fresh)}")
        for _ in range(self.random.choice([1, 1, 2])):
            lines.append(self.change(scope))
        return "\n    ".join(["  effect", *lines])

    def filled(self, scope: dict[str, str], needs: str = "") -> str:
        for _ in range(20):
            if "_" not in (atom := self.atom(scope, needs)):
                return atom
        return "F()"

    def change(self, scope: dict[str, str]) -> str:
        roll = self.random.random()
        if roll < 0.35:
            return f"insert {self.filled(scope)}"
        if roll < 0.5:
            return f"delete {self.atom(scope)}"
        if roll < 0.65 and self.keyed & {"S"} and "a" in scope.values():
            return f"set S({self.term('a', scope)}, {self.random.choice('uvw')})"
        if roll < 0.7:
            return f"clear {self.random.choice(list(self.relations))}"
        name, sort = "y", self.random.choice(["a", "a", "k"])
        inner = {**scope, name: sort}
        atom = self.filled(inner, name)
        where = f" where {self.condition(inner)}" * self.chance(0.5)
        return f"{self.random.choice(['insert', 'delete'])} {atom} for {name}: {sort}{where}"

    def tool(self, number: int) -> str:
        params = {
            f"p{i}": self.random.choice(["a", "a", "a", "k"])
            for i in range(self.random.choice([0, 1, 1, 1, 1, 2]))
        }
        declared = ", ".join(f"{name}: {sort}" for name, sort in params.items())
        kind = self.random.choice(["tool", "event"])
        if kind == "tool":
            self.tools[f"t{number}"] = list(params.values())
        head = f"{kind} t{number}({declared})"
        parts = [self.atom(params, n) if self.chance(0.7) else self.literal(params, n) for n in params]
        if self.chance(0.5):
            parts.append(self.condition(params, self.random.choice([0, 1, 1, 2])))
        guard = [f"  guard {' & '.join(parts)}"] if parts else []
        return "\n".join(
            [head, *guard, *(self.effect(params) for _ in range(self.random.choice([1, 1, 1, 2])))]
        )

    def text(self) -> str:
        self.constant = self.chance(0.3)
        lines = ["deployment generated", "sort a, b", "sort k = { u, v, w } rigid"]
        for name, columns in self.relations.items():
            lines.append(f"relation {name}({KEYED[name] if name in self.keyed else columns})")
        if self.constant:
            lines += ["init", "  S(c0, u)"]
        elif self.chance(0.3):
            lines += [f"initially any S where {self.condition({})}"]
        lines += [self.tool(i) for i in range(self.random.choice([2, 3, 4]))]
        lines += ["tool birth()\n  effect\n    fresh n: a\n    insert S(n, u)", "tool idle()"]
        for i in range(3):
            scope = {"x": "a", "y": "a"}
            f = self.condition(scope, 2)
            lines.append(
                f"spec s{i} AG forall x: a, y: a. ({self.atom(scope, 'x')} & {self.atom(scope, 'y')} -> {f})"
            )
        return "\n".join([*lines, *self.policy()]) + "\n"

    def policy(self) -> list[str]:
        """An agent that is rules, for the tools made before."""
        lines = ["policy p"]
        for name, sorts in self.random.sample(sorted(self.tools.items()), len(self.tools)):
            scope = {f"q{i}": sort for i, sort in enumerate(sorts)}
            args = [
                self.random.choice("uvw") if s == "k" and self.chance(0.4) else n for n, s in scope.items()
            ]
            if len(args) == 2 and len(set(sorts)) == 1 and self.chance(0.2):
                args[1] = args[0]
            known = {n: s for n, s in scope.items() if n in args}
            when = f" when {self.condition(known, self.random.choice([0, 1, 1, 2]))}" * self.chance(0.6)
            lines.append(f"  call {name}({', '.join(args)}){when}")
        return [*lines, "  call idle()"]


def text(seed: int) -> str:
    """The deployment of a seed."""
    return Maker(seed).text()


def waiting(seed: int) -> str:
    """The deployment of a seed, with specifications of what is to be until something comes."""
    maker = Maker(seed)
    lines = [maker.text()]
    for i in range(4):
        scope = {} if maker.chance(0.4) else {"x": "a"}
        since, left, right = (maker.atom(scope, "x") if scope else maker.literal(scope) for _ in range(3))
        if maker.chance(0.3):
            since = f"{since} & {maker.condition(scope)}"
        body = maker.random.choice(
            [f"A[{left} W {right}]", f"A[{since} W {right}]", f"AG {left}", f"AX {left}", f"AX {since}"]
        )
        each = "forall x: a. " if scope else ""
        lines.append(f"spec w{i} AG {each}({since} -> {body})")
    lines.append(f"spec first A[{maker.literal({})} W {maker.literal({})}]")
    return "\n".join(lines) + "\n"
