"""FO-CTL on a graph of states, by fixpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from language3 import Binary, Formula, Next, Not, Quantified, Until, parts
from truth import COUNTED, JOINED, Datum, Env, Reading, State, Truths, free


class Graph:
    """FO-CTL over all reachable states, sets of which are the bits of a number.

    Path quantifiers range over the runs on which each of ``fair``, sets of states, is met again and again.
    """

    def __init__(
        self,
        truths: Truths,
        domain: Mapping[str, tuple[Datum, ...]],
        after: Mapping[State, set[State]],
        fair: tuple[int, ...] = (),
    ) -> None:
        self.truths, self.domain = truths, domain
        self.number = {state: i for i, state in enumerate(after)}
        self.readings = [truths.reading(state) for state in after]
        self.after = [sum(1 << self.number[s] for s in successors) for successors in after.values()]
        self.all = (1 << len(after)) - 1
        self.fair = fair
        self.found: dict[object, int] = {}
        self.starts = self.always(self.all)
        """The states in which some fair run starts."""

    def where(self, each: Iterator[bool]) -> int:
        return sum(1 << i for i, true in enumerate(each) if true)

    def before(self, z: int) -> int:
        return self.where(bool(after & z) for after in self.after)

    def least(self, f: int, g: int) -> int:
        """Return where some run comes to g, through f: the least solution of Z = g | f & EX Z."""
        z = 0
        while (more := g | f & self.before(z)) != z:
            z = more
        return z

    def always(self, f: int) -> int:
        """Return where some fair run stays in f: the greatest Z in f that meets each fair set again in Z."""
        z = f
        while True:
            fewer = z & self.before(z)
            for fair in self.fair:
                fewer &= self.before(self.least(f, z & fair))
            if fewer == z:
                return z
            z = fewer

    def some(self, f: int) -> int:
        """EX"""
        return self.before(f & self.starts)

    def until(self, f: int, g: int) -> int:
        """E[f U g]"""
        return self.least(f, g & self.starts)

    def path(self, path: str, op: str, f: int, g: int) -> int:
        """E and A of U and W."""
        if path == "E":
            return self.until(f, g) | (self.always(f) if op == "W" else 0)
        fails = self.until(self.all & ~g, self.all & ~f & ~g)
        if op == "U":
            fails |= self.always(self.all & ~g)
        return self.all & ~fails

    def satisfying(self, f: Formula, env: Env) -> int:
        key = (f, tuple(sorted((v.name, v.sort, str(env[v])) for v in free(f))))
        if key not in self.found:
            self.found[key] = self._satisfying(f, env)
        return self.found[key]

    def _satisfying(self, f: Formula, env: Env) -> int:
        sat = self.satisfying
        if not any(isinstance(node, Next | Until) for node in parts(f)):
            return self.where(self.truths.holds(f, at, env) for at in self.readings)
        match f:
            case Not(body):
                return self.all & ~sat(body, env)
            case Binary(op, left, right):
                u, v = sat(left, env), sat(right, env)
                return self.where(
                    JOINED[op](bool(u >> i & 1), bool(v >> i & 1)) for i in range(len(self.after))
                )
            case Quantified(word, binder, body, number):
                sort = self.domain[binder.var.sort]
                true = {value: sat(body, {**env, binder.var: value}) for value in sort}

                def holds(i: int, at: Reading) -> bool:
                    truths = [bool(true[value] >> i & 1) for value in self.truths.range(binder, at)]
                    if number is not None:
                        return COUNTED[word](sum(truths), number)
                    return all(truths) if word == "forall" else any(truths)

                return self.where(holds(i, at) for i, at in enumerate(self.readings))
            case Next("EX", body):
                return self.some(sat(body, env))
            case Next("AX", body):
                return self.all & ~self.some(self.all & ~sat(body, env))
            case Next(op, body):
                z = sat(body, env)
                return self.path(op[0], "U", self.all, z) if op[1] == "F" else self.path(op[0], "W", z, 0)
            case Until(path, op, left, right):
                return self.path(path, op, sat(left, env), sat(right, env))
        raise TypeError(f)
