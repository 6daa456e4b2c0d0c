"""Deployments that are dense in integers, as text: sums and differences, `count` and `sum` in guards,
effects, policies and specifications, over two sorts of integers of which one has negative ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Texts:
    """Random terms and formulas. A scope says the sort of each variable: `rec`, `n` or `m`."""

    def __init__(self, random: Random) -> None:
        self.random = random
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
        return self.pick([*own, "_", f"{self.term(scope, depth)} + 0", str(self.random.randint(0, 1))])

    def atom(self, scope: dict[str, str], depth: int) -> str:
        relation, sorts = self.random.choice((("R", ("rec", "n")), ("L", ("m",)), ("F", ("rec",))))
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
    texts = Texts(Random(seed))
    random = texts.random
    lines = [
        "deployment d",
        f"sort n = 0..{random.randint(1, 3)}",
        f"sort m = -{random.randint(1, 2)}..{random.randint(2, 5)}",
        "sort rec",
        "relation R(id: rec key, v: n)",
        "relation L(m)",
        "relation F(rec)",
        f"bound rec {random.randint(1, 2)}",
        "init L(0)" + random.choice(("", " R(r0, 0)", " R(r0, 1) F(r0)")),
        "event come() guard atmost 0 r: rec. R(r, _) & ~F(r)  effect fresh r: rec  insert R(r, 0)",
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
