"""Deployments in which it matters how many records there are, and what each of them sees of the others.

Beside `generated.records`, of which nothing is used here: places in an order that a record climbs only
beside others, counts of every kind, relations between records with and without keys, a second sort with a
bound or without one, records that are constants, mentioned or not, databases of any size to begin with,
several agents with views and policies of their own, gates, invariants that are true and that are not, and
specifications of what comes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

Scope: TypeAlias = dict[str, str]
"""The sorts of the variables that can be named."""

PLACES = ("0", "1", "2")
KINDS = ("u", "v")
COLUMNS = {
    "At": ("a", "n"),
    "Is": ("a", "k"),
    "Mark": ("a",),
    "Two": ("a", "a"),
    "Own": ("a", "b"),
    "Room": ("b",),
    "Flag": (),
    "Last": ("n",),
}


class Crowd:
    """The text of one deployment, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.constant = self.chance(0.25)
        names = [name for name in COLUMNS if name in ("At", "Flag") or self.chance(0.45)]
        if self.chance(0.35):  # small enough for many records
            names = ["At", "Flag", self.pick(["Is", "Mark", "Two", "Last"])]
        if "Own" not in names and "Room" in names:
            names.remove("Room")
        self.columns = {name: COLUMNS[name] for name in names}
        self.keyed = {"At"} if self.chance(0.7) else set()
        self.keyed |= {name for name in ("Is", "Two", "Own") if name in names and self.chance(0.5)}
        self.tools: dict[str, Scope] = {}

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, options: Sequence[str]) -> str:
        return self.random.choice(list(options))

    # formulas

    def term(self, sort: str, scope: Scope) -> str:
        """A variable, a constant, or `_`."""
        known = [name for name, own in scope.items() if own == sort]
        if known and self.chance(0.75):
            return self.pick(known)
        match sort:
            case "n":
                return self.pick(PLACES)
            case "k":
                return self.pick(KINDS)
            case "a" if self.constant and self.chance(0.4):
                return "c"
            case _:
                return self.pick(known) if known and self.chance(0.7) else "_"

    def atom(self, scope: Scope, about: str = "", full: bool = False) -> str:
        """An atom, ``about`` a variable if some relation can hold it, and ``full`` without `_`."""
        names = [n for n, columns in self.columns.items() if not about or scope[about] in columns]
        for _ in range(30):
            name = self.pick(names or list(self.columns))
            args = [self.term(sort, scope) for sort in self.columns[name]]
            if about and about not in args and scope[about] in self.columns[name]:
                args[self.columns[name].index(scope[about])] = about
            if not full or "_" not in args:
                return f"{name}({', '.join(args)})"
        return "Flag()"

    def literal(self, scope: Scope, about: str = "") -> str:
        places = [name for name, sort in scope.items() if sort == "n"]
        records = [name for name, sort in scope.items() if sort == "a"]
        if places and self.chance(0.25):
            return self.pick([f"{places[0]} < 2", f"{places[-1]} >= 1", f"succ({places[0]}, 2)"])
        if len(records) > 1 and self.chance(0.3):
            one, other = self.random.sample(records, 2)
            return f"{one} {self.pick(['=', '!=', '!='])} {other}"
        return "~" * self.chance(0.35) + self.atom(scope, about)

    def formula(self, scope: Scope, depth: int = 2) -> str:
        """A formula, mostly of the fragment, some ∀∃ among them."""
        roll = self.random.random()
        if depth == 0 or roll < 0.3:
            return self.literal(scope)
        if roll < 0.5:
            join = self.pick(["&", "&", "|", "|", "->", "<->"])
            return f"({self.formula(scope, depth - 1)} {join} {self.formula(scope, depth - 1)})"
        if roll < 0.55:
            return f"(~{self.formula(scope, depth - 1)})"
        name = f"x{len(scope)}"
        sort = self.pick(["a", "a", "a", "a", "n", "k" if "Is" in self.columns else "a"])
        inner = {**scope, name: sort}
        body = self.literal(inner, name if self.chance(0.85) else "")
        if self.chance(0.6):
            body = f"({body} {self.pick(['&', '&', '|', '->'])} {self.formula(inner, depth - 1)})"
        if sort != "a" and self.chance(0.5):
            return f"({self.pick(['exists', 'forall'])} {name} in {sort}. {body})"
        counted = ["exists", "exists", "forall", "forall", "~exists", "atmost 1", "atmost 2", "atleast 2"]
        return f"({self.pick([*counted, 'atleast 3', 'exactly 1'])} {name}: {sort}. {body})"

    # steps

    def change(self, scope: Scope) -> str:
        records = [name for name, sort in scope.items() if sort == "a"]
        roll = self.random.random()
        if records and roll < 0.25 and "At" in self.keyed:
            return f"set At({self.pick(records)}, {self.term('n', scope)})"
        if roll < 0.45:
            atom = self.atom(scope, full=True)
            return f"{'set' if self.is_keyed(atom) and self.chance(0.85) else 'insert'} {atom}"
        if roll < 0.6:
            return f"delete {self.atom(scope)}"
        if roll < 0.65:
            return f"clear {self.pick(list(self.columns))}"
        binders = {"y": "a"} if self.chance(0.7) else {"y": "a", "z": self.pick(["a", "n"])}
        inner = {**scope, **binders}
        named = ", ".join(f"{name}: {sort}" for name, sort in binders.items())
        where = f" where {self.formula(inner)}" * self.chance(0.75)
        if self.chance(0.3) and "At" in self.keyed:
            return f"set At(y, {self.pick(PLACES)}) for {named}{where}"
        atom = self.atom(inner, "y", True)
        into = "set" if self.is_keyed(atom) and self.chance(0.7) else "insert"
        return f"{self.pick([into, 'delete'])} {atom} for {named}{where}"

    def is_keyed(self, atom: str) -> bool:
        return atom.partition("(")[0] in self.keyed

    def effect(self, params: Scope) -> list[str]:
        scope, lines = dict(params), ["  effect"]
        if self.chance(0.2):
            lines[0] += f" when {self.formula(scope)}"
        if self.chance(0.2):
            sort = self.pick(["a", "a", "n"])
            scope["w"] = sort
            lines.append(f"    choose w: {sort}" + f" where {self.formula(scope)}" * self.chance(0.7))
        for name in ("f", "g")[: self.random.choice([0, 0, 0, 1, 1, 2])]:
            scope[name] = "a"
            lines += [f"    fresh {name}: a", f"    insert At({name}, {self.pick(PLACES)})"]
        if "Own" in self.columns and self.chance(0.3):
            scope["h"] = "b"
            lines += ["    fresh h: b", f"    insert {self.atom(scope, 'h', True)}"]
        return [*lines, *(f"    {self.change(scope)}" for _ in range(self.random.choice([1, 1, 2, 3])))]

    def guard(self, params: Scope) -> str:
        parts = [self.atom(params, name) for name in params if self.chance(0.8)]
        if self.chance(0.6):
            parts.append(self.formula(params))
        return f"  guard {' & '.join(parts)}\n" if parts else ""

    def tool(self, number: int) -> str:
        params = {f"p{i}": self.pick("aaaan") for i in range(self.random.choice([0, 1, 1, 1, 2, 2]))}
        kind = self.pick(["tool", "event"])
        if kind == "tool":
            self.tools[f"t{number}"] = params
        effects = [line for _ in range(self.random.choice([1, 1, 2])) for line in self.effect(params)]
        named = ", ".join(f"{name}: {sort}" for name, sort in params.items())
        return f"{kind} t{number}({named})\n{self.guard(params)}" + "\n".join(effects)

    def climb(self) -> str:
        """Up a place, beside so many others on it."""
        beside = self.random.choice([1, 1, 2])
        return (
            "event climb(p: a, l: n, m: n)\n"
            f"  guard At(p, l) & succ(l, m) & (atleast {beside} d: a. (At(d, l) & d != p))\n"
            "  effect\n    delete At(p, l)\n    insert At(p, m)"
        )

    # agents, and what is asked

    def policy(self, tools: dict[str, Scope], indent: str) -> list[str]:
        lines = [f"{indent}policy p"]
        for name in self.random.sample(sorted(tools), len(tools)):
            scope = {f"q{i}": sort for i, sort in enumerate(tools[name].values())}
            args = [self.pick(PLACES) if s == "n" and self.chance(0.3) else v for v, s in scope.items()]
            known = {name: sort for name, sort in scope.items() if name in args}
            when = f" when {self.formula(known)}" * self.chance(0.6)
            lines.append(f"{indent}  call {name}({', '.join(args)}){when}")
        return [*lines, f"{indent}  call idle()"]

    def views(self) -> list[str]:
        if self.chance(0.6):
            return []
        shown = self.random.sample(sorted(self.columns), self.random.randint(1, len(self.columns)))
        lines = []
        for name in shown:
            scope = {f"v{i}": sort for i, sort in enumerate(self.columns[name])}
            where = f" where {self.formula(scope, 1)}" * self.chance(0.5)
            lines.append(f"view {name}({', '.join(scope)}){where}")
        return lines

    def agents(self) -> list[str]:
        if len(self.tools) < 2 or self.chance(0.5):
            return [*self.views(), *self.policy(self.tools, "")]
        cut = self.random.randint(1, len(self.tools) - 1)
        lines = []
        for agent, names in zip("xy", (sorted(self.tools)[:cut], sorted(self.tools)[cut:]), strict=True):
            own = {name: self.tools[name] for name in names}
            lines += [f"agent {agent}", f"  tools {', '.join([*own, 'idle'])}"]
            lines += [f"  {line}" for line in self.views()] + self.policy(own, "  ")
        return lines

    def gate(self) -> list[str]:
        lines = ["gate g", "  permit idle()"]
        for name, params in self.tools.items():
            scope = {f"r{i}": sort for i, sort in enumerate(params.values())}
            when = f" when {self.formula(scope)}" * self.chance(0.7)
            lines.append(f"  {self.pick(['permit', 'permit', 'forbid'])} {name}({', '.join(scope)}){when}")
        return lines

    def asked(self) -> list[str]:
        """Sentences of each kind, some of which are to help as invariants."""
        number = self.random.randint(1, 4)
        lines = [
            f"spec few AG atmost {number} x: a. {self.atom({'x': 'a'}, 'x')}",
            f"spec top AG ~{self.pick(['At(_, 2)', 'At(_, 2)', 'Flag()'])}",
        ]
        for i in range(2):
            scope = {"x": "a"} if self.chance(0.5) else {"x": "a", "y": "a"}
            said = " & ".join(self.atom(scope, name) for name in scope)
            named = ", ".join(f"{name}: a" for name in scope)
            lines.append(f"spec s{i} AG forall {named}. ({said} -> {self.formula(scope)})")
        if self.chance(0.6):
            lines.append(f"invariant i {self.formula({}, 3)}")
        if self.chance(0.4):
            lines.append(f"invariant j atmost {number} x: a. {self.atom({'x': 'a'}, 'x')}")
        lines.append(f"spec first A[{self.formula({}, 1)} W {self.formula({}, 1)}]")
        lines.append(f"spec stays AG ({self.formula({}, 1)} -> AG {self.formula({}, 1)})")
        scope = {"x": "a"}
        since, left, right = (self.atom(scope, "x") for _ in range(3))
        later = self.pick([f"A[{left} W {right}]", f"AG {left}", f"AX {left}"])
        return [*lines, f"spec later AG forall x: a. ({since} -> {later})"]

    def start(self) -> list[str]:
        lines = ["init", "  At(c, 1)"] if self.constant else ["init"]
        others = [f"d{i}" for i in range(self.random.randint(1, 4))] if self.chance(0.3) else []
        for name in others:  # which nothing else mentions
            lines.append(f"  At({name}, {self.pick(PLACES)})")
            if "Mark" in self.columns and self.chance(0.5):
                lines.append(f"  Mark({name})")
            if "Two" in self.columns and self.chance(0.6):
                lines.append(f"  Two({name}, {self.pick(others)})")
        if self.chance(0.3):
            names = self.random.sample(sorted(set(self.columns) - {"Own", "Room"}), 2)
            where = f" where {self.formula({})}" * self.chance(0.7)
            lines.append(f"initially any {', '.join(names)}{where}")
        return lines

    def text(self) -> str:
        lines = ["deployment crowd", "sort a, b", "sort n = 0..2", "sort k = { u, v } rigid", "bound a any"]
        lines.append(f"bound b {self.pick(['any', '1', '2'])}")
        for name, columns in self.columns.items():
            keys = [f"{s} key" if i == 0 and name in self.keyed else s for i, s in enumerate(columns)]
            lines.append(f"relation {name}({', '.join(keys)})")
        lines += self.start()
        lines.append("event come()\n  effect\n    fresh f: a\n    insert At(f, 0)")
        lines += [self.climb()] * self.chance(0.5)
        lines += [self.tool(i) for i in range(self.random.choice([1, 2, 2, 3]))]
        lines.append("tool idle()")
        return "\n".join([*lines, *self.agents(), *self.gate(), *self.asked()]) + "\n"


def text(seed: int) -> str:
    """The deployment of a seed."""
    return Crowd(seed).text()
