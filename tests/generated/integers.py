"""Deployments that are dense in integers, as text: sums and differences, `count` and `sum` in guards,
effects, policies and specifications, over two sorts of integers of which one has negative ones. A record
may have a row with two integers, `W`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
RELATIONS = (("R", ("rec", "n")), ("L", ("m",)), ("F", ("rec",)))


class Texts:
    """Random terms and formulas. A scope says the sort of each variable: `rec`, `n` or `m`."""

    def __init__(
        self,
        random: Random,
        relations: Sequence[tuple[str, Sequence[str]]] = RELATIONS,
        first: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """``first`` are the least integers of the sorts."""
        self.random = random
        self.relations = relations
        self.first = first
        self.names = 0

    def pick(self, options: Sequence[str]) -> str:
        return self.random.choice(options)

    def name(self) -> str:
        self.names += 1
        return f"x{self.names}"

    def term(self, scope: dict[str, str], depth: int) -> str:
        integers = [name for name, sort in scope.items() if sort != "rec"]
        kinds: list[Callable[[], str]] = [lambda: str(self.random.randint(-2, 4))]
        if integers:
            kinds += [lambda: self.pick(integers)] * 3
        if depth:
            kinds += [
                lambda: f"({self.term(scope, depth - 1)} {self.pick('+-')} {self.term(scope, depth - 1)})",
                lambda: self.tally(scope, depth - 1),
            ]
        return self.random.choice(kinds)()

    def tally(self, scope: dict[str, str], depth: int) -> str:
        inner, over = dict(scope), []
        for _ in range(self.random.randint(1, 2)):
            name, sort = self.name(), self.pick(("rec", "rec", "n", "m"))
            inner[name] = sort
            over.append(
                f"{name} in {sort}" if sort != "rec" and self.random.random() < 0.4 else f"{name}: {sort}"
            )
        body = self.formula(inner, depth)
        if self.random.random() < 0.5:
            return f"(count {', '.join(over)}. {body})"
        return f"(sum {self.term(inner, depth)} for {', '.join(over)}. {body})"

    def value(self, sort: str, scope: dict[str, str], depth: int) -> str:
        own = [name for name, known in scope.items() if known == sort]
        if sort == "rec":
            return self.pick([*own, "_"])
        numeral = str(self.first.get(sort, 0) + self.random.randint(0, 1))
        return self.pick([*own, "_", f"{self.term(scope, depth)} + 0", numeral])

    def atom(self, scope: dict[str, str], depth: int) -> str:
        relation, sorts = self.random.choice(self.relations)
        return f"{relation}({', '.join(self.value(sort, scope, depth) for sort in sorts)})"

    def comparison(self, scope: dict[str, str], depth: int) -> str:
        return f"{self.term(scope, depth)} {self.pick(COMPARISONS)} {self.term(scope, depth)}"

    def formula(self, scope: dict[str, str], depth: int) -> str:
        kinds = [lambda: self.atom(scope, depth), lambda: self.comparison(scope, depth)]
        if depth:
            kinds += [
                lambda: (
                    f"({self.formula(scope, depth - 1)} {self.pick('&|')} {self.formula(scope, depth - 1)})"
                ),
                lambda: f"~({self.formula(scope, depth - 1)})",
                lambda: self.quantified(scope, depth - 1),
            ]
        return self.random.choice(kinds)()

    def quantified(self, scope: dict[str, str], depth: int) -> str:
        name, sort = self.name(), self.pick(("rec", "n", "m"))
        over = f"{name} in {sort}" if sort != "rec" and self.random.random() < 0.3 else f"{name}: {sort}"
        return f"({self.pick(('exists', 'forall'))} {over}. {self.formula({**scope, name: sort}, depth)})"

    def effect(self, scope: dict[str, str]) -> str:
        lines = []
        if self.random.random() < 0.2:
            lines.append(f"when {self.formula(scope, 1)}")
        scope = dict(scope)
        if self.random.random() < 0.2:
            lines.append(f"choose c: n where {self.formula({**scope, 'c': 'n'}, 1)}")
            scope["c"] = "n"
        record = next((name for name, sort in scope.items() if sort == "rec"), None)
        for _ in range(self.random.randint(1, 2)):
            inner = {**scope, "b": "n"}
            options = [
                f"delete L(_)  insert L({self.term(scope, 2)} + 0)",
                f"delete L(_)  insert L(l {self.pick('+-')} {self.term(scope, 1)}) for l where L(l)",
                f"delete L({self.term(scope, 1)} + 0)",
                f"insert L({self.term(inner, 1)} + 0) for b where R(_, b) & {self.formula(inner, 1)}",
            ]
            if record:
                options += [
                    f"set R({record}).v = {self.term(scope, 1)} + 0",
                    f"set R({record}).v = b {self.pick('+-')} {self.term(scope, 1)}"
                    f" for b where R({record}, b)",
                    f"set R({record}, {self.term(scope, 1)} + 0)",
                    f"set W({record}, {self.term(scope, 1)} + 0, {self.term(scope, 1)} + 0)",
                    f"set W({record}).{self.pick('uv')} = {self.term(scope, 1)} + 0",
                    f"set W({record}).v = b {self.pick('+-')} g + {self.term(scope, 1)}"
                    f" for b, g where W({record}, g, b)",
                    f"set W({record}, b + 0, {self.term(scope, 1)} + 0) for b where R({record}, b)",
                    f"delete W({record}, {self.term(scope, 1)} + 0, _)",
                    f"insert F({record})",
                    f"delete F({record})",
                    f"delete R({record}, _)",
                ]
            lines.append(self.pick(options))
        return "effect " + "\n    ".join(lines)

    def spec(self) -> str:
        path = self.pick(("AG", "EF", "AF", "EG", "AX", "EX"))
        if self.random.random() < 0.4:
            name, sort = self.name(), self.pick(("rec", "n", "m"))
            inner = {name: sort}
            later = f"{self.pick(('AX', 'EF', 'AG'))} ({self.formula(inner, 2)})"
            quantifier = self.pick(("exists", "forall"))
            return f"{path} {quantifier} {name}: {sort}. ({self.formula(inner, 1)} -> {later})"
        return f"{path} ({self.formula({}, 3)})"


def integer_deployment(seed: int) -> str:
    """The text of a deployment with up to two records."""
    random = Random(seed)
    n, m = random.choice((0, 0, 0, 1, -1)), random.choice((-2, -1, -1, -6, 3))
    texts = Texts(random, (*RELATIONS, ("W", ("rec", "n", "m"))), {"n": n, "m": m})
    last = m + random.choice((0, 3, 5, 7))
    lines = [
        "deployment d",
        f"sort n = {n}..{n + random.randint(0, 3)}",
        f"sort m = {m}..{last}",
        "sort rec",
        "relation R(id: rec key, v: n)",
        "relation W(id: rec key, u: n, v: m)",
        "relation L(m)",
        "relation F(rec)",
        f"bound rec {random.randint(1, 2)}",
        f"init L({m})" + random.choice(("", f" R(r0, {n})", f" R(r0, {n}) F(r0) W(r0, {n}, {last})")),
        "event come() guard atmost 0 r: rec. R(r, _) & ~F(r)"
        f"  effect fresh r: rec  insert R(r, {n})  insert W(r, {n}, {m})",
        "tool wait()",
    ]
    for number in range(random.randint(1, 3)):
        scope = {"r": "rec", "a": "n"} if random.random() < 0.6 else {"r": "rec"}
        params = ", ".join(f"{name}: {sort}" for name, sort in scope.items())
        guard = f"R(r, _) & {texts.formula(scope, 2)}"
        kind = random.choice(("tool", "tool", "event"))
        lines.append(f"{kind} t{number}({params}) guard {guard}\n  {texts.effect(scope)}")
    lines += [f"spec s{number} {texts.spec()}" for number in range(4)]
    return "\n".join(lines) + "\n"
