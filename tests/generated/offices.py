"""Deployments like those that people write: orders of customers, their lines, holds and links, made of
actions that are almost right.

Beside `generated.crowds`, of which nothing is used here: several sorts without a bound, references, keys of
two columns, levels in an order, guards that no number of records keeps true (so that slices are asked),
statements about all rows with a condition, alternatives, a policy of several rules, and specifications and
invariants that are what the actions mostly keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

RELATIONS = {
    "Cust": "relation Cust(b key, level)",
    "Ord": "relation Ord(a key, b)",
    "Line": "relation Line(a key, level key, state)",
    "Hold": "relation Hold(a)",
    "Link": "relation Link(a, a)",
    "Boss": "relation Boss(b)",
    "Pay": "relation Pay(a, b)",
    "Top": "relation Top(level)",
    "Shut": "relation Shut()",
}
FORMS = {
    "Cust": ("Cust({b}, {l})", "Cust({b}, _)", "Cust(_, {l})"),
    "Ord": ("Ord({a}, {b})", "Ord({a}, _)", "Ord(_, {b})"),
    "Line": ("Line({a}, {l}, {s})", "Line({a}, _, {s})", "Line({a}, {l}, _)", "Line(_, {l}, {s})"),
    "Hold": ("Hold({a})", "Hold(_)"),
    "Link": ("Link({a}, {o})", "Link({o}, {a})", "Link({a}, _)", "Link({a}, {a})"),
    "Boss": ("Boss({b})", "Boss(_)"),
    "Pay": ("Pay({a}, {b})", "Pay({a}, _)", "Pay(_, {b})"),
    "Top": ("Top({l})", "Top(_)"),
    "Shut": ("Shut()",),
}
FULL = {name: forms[0] for name, forms in FORMS.items()}


class Office:
    """The text of one deployment, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        size = self.pick([3, 4, 5, 9])
        self.names = sorted({"Ord", *self.random.sample(sorted(RELATIONS), size - 1)})

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(list(options))

    def form(self, text: str, bound: dict[str, str]) -> str:
        """With variables in scope, or constants, for what it speaks of."""
        given = {"a": "_", "o": "_", "b": "_"} | {s: n for s, n in bound.items() if s in "aob"}
        level = bound.get("l", str(self.pick("0122"))) if self.chance(0.7) else str(self.pick("012"))
        return text.format(**given, l=level, s=self.pick("uvw") if "s" not in bound else bound["s"])

    def literal(self, bound: dict[str, str], sure: bool = False) -> str:
        name = str(self.pick(self.names))
        atom = self.form(str(self.pick(FORMS[name])), bound)
        return atom if sure or self.chance(0.55) else f"~{atom}"

    def condition(self, bound: dict[str, str], depth: int = 1) -> str:
        roll = self.random.random()
        if depth == 0 or roll < 0.45:
            return self.literal(bound)
        if roll < 0.7:
            joined = self.pick(["&", "|", "->"])
            return f"({self.condition(bound, depth - 1)} {joined} {self.condition(bound, depth - 1)})"
        sort = str(self.pick("ab"))
        inner = {**bound, ("o" if sort == "a" and "a" in bound else sort): f"q{depth}{sort}"}
        name = f"q{depth}{sort}"
        if roll < 0.78:  # as many records as there are: no slice has it
            return f"(forall {name}: {sort}. exists r{depth}: b. ({self.literal(inner)} | Ord(_, r{depth})))"
        quantifier = self.pick(["exists", "~exists", "forall", "atmost 1", "atleast 2", "exactly 1"])
        return f"({quantifier} {name}: {sort}. ({self.literal(inner)} & {self.literal(inner)}))"

    def statement(self, bound: dict[str, str]) -> str:
        name = str(self.pick(self.names))
        known = {"a": "x", "o": "x", "b": "y", "l": "0"} | bound
        atom = self.form(FULL[name], known)
        if name in ("Cust", "Line") and self.chance(0.6):
            return f"set {atom}"
        if self.chance(0.55):
            return f"insert {atom}"
        if self.chance(0.4):
            return f"delete {self.form(self.pick(FORMS[name]), known)}"
        every = {**bound, "a": "z"}
        done = self.form(FULL["Hold" if "Hold" in self.names else "Ord"], {"b": "y"} | every)
        return f"{self.pick(['insert', 'delete'])} {done} for z: a where {self.condition(every)}"

    def action(self, number: int) -> str:
        kind = "event" if self.chance(0.4) else "tool"
        bound, params = {"a": "x", "b": "y"}, ["x: a", "y: b"]
        if self.chance(0.3):
            bound, params = bound | {"o": "m"}, [*params, "m: a"]
        if self.chance(0.3):
            bound, params = bound | {"l": "n"}, [*params, "n: level"]
        said = ["Ord(x, y)"] if self.chance(0.5) else []
        said += [self.condition(bound) for _ in range(self.pick([1, 1, 2]))]
        lines = [f"{kind} t{number}({', '.join(params)})", f"  guard {' & '.join(said)}"]
        for _ in range(self.pick([1, 1, 2])):
            lines.append("  effect" + f" when {self.condition(bound)}" * self.chance(0.2))
            if self.chance(0.15):
                lines.append(f"    choose c: a where {self.condition({'a': 'c', 'b': 'y'})}")
                lines.append(f"    insert {self.form(FULL['Ord'], {'a': 'c', 'b': 'y'})}")
            lines += [f"    {self.statement(bound)}" for _ in range(self.pick([1, 2]))]
        return "\n".join(lines)

    def claim(self) -> str:
        bound = {"a": "x", "b": "y"}
        since = self.literal({"a": "x"}, sure=True)
        both = self.literal({"a": "x", "o": "m"})
        return str(
            self.pick(
                [
                    f"forall x: a, y: b. ({since} & {self.literal(bound)} -> {self.condition(bound)})",
                    f"forall x: a. ({since} -> {self.literal({'a': 'x'})})",
                    f"atmost {self.pick('12')} x: a. {since}",
                    f"forall x: a, m: a. ({since} & {self.literal({'a': 'm'})} -> x = m | {both})",
                    f"~({self.literal({})} & {self.literal({})})",
                ]
            )
        )

    def text(self) -> str:
        lines = ["deployment office", "sort a, b", "sort level = 0..2", "sort state = { u, v, w } rigid"]
        refers = "Cust" in self.names and self.chance(0.4)
        for name in self.names:
            line = RELATIONS[name]
            lines.append(line.replace("Ord(a key, b)", "Ord(a key, b references Cust)") if refers else line)
        lines += ["bound a any", f"bound b {self.pick(['any', 'any', '1'])}"]
        if self.chance(0.25):
            lines.append("initially any Ord where atmost 1 x: a. Ord(x, _)" if not refers else "")
        elif self.chance(0.3):
            rows = " ".join(
                f"Ord(r{n}, c{self.random.randrange(2)})" for n in range(self.random.randrange(1, 4))
            )
            lines.append(f"init {rows}" + (" Cust(c0, 0) Cust(c1, 1)" if "Cust" in self.names else ""))
        known = "    insert Cust(y, 0)\n" if "Cust" in self.names else ""
        lines.append(f"event come()\n  effect\n    fresh x: a\n    fresh y: b\n{known}    insert Ord(x, y)")
        if self.chance(0.6):
            lines.append(
                "event again(y: b)\n  guard Ord(_, y)\n  effect\n    fresh x: a\n    insert Ord(x, y)"
            )
        lines += [self.action(number) for number in range(self.random.randrange(2, 5))]
        lines.append("tool idle()")
        rules = [line for line in "\n".join(lines).split("\n") if line.startswith("tool t")]
        lines.append("policy p")
        for rule in rules:
            name, params = (
                rule.split()[1].split("(")[0],
                [p.split(":")[0] for p in rule.split("(")[1].rstrip(")").split(", ")],
            )
            lines.append(f"  call {name}({', '.join(params)}) when {self.condition({'a': 'x', 'b': 'y'}, 0)}")
        lines.append("  call idle()")
        lines += [f"spec s{number} AG {self.claim()}" for number in range(4)]
        if self.chance(0.5):
            lines.append(f"invariant i {self.claim()}")
        since, left, right = (self.literal({"a": "x"}, sure=True) for _ in range(3))
        lines.append(f"spec first A[{self.literal({})} W {self.literal({})}]")
        lines.append(
            f"spec stays AG forall x: a. ({since} -> {self.pick([f'A[{left} W {right}]', f'AX {left}'])})"
        )
        return "\n".join(lines) + "\n"


def text(seed: int) -> str:
    """The deployment of a seed."""
    return Office(seed).text()
