"""Binary decision diagrams: the one file that imports `dd`.

`Manager` owns the variables and their order. It hides what differs between CUDD (`dd.cudd`) and the
pure-Python backend (`dd.autoref`, used where the platform has no CUDD), and what `dd` does not
have: exact counting, insertion of a variable at a level, and quantification by prebuilt cubes.
"""

from __future__ import annotations

import gc
import logging
import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import dd.autoref
import dd.bdd

from stead_sym.engines.symbolic.bdd.counting import models
from stead_sym.support.collecting import seldom_collecting

try:
    import dd.cudd
except ImportError:  # no wheel with CUDD for this platform
    HAS_CUDD = False
else:
    HAS_CUDD = True
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

Backend: TypeAlias = Literal["cudd", "autoref"]
Bits: TypeAlias = frozenset[str]


_STACK_BYTES = 1 << 27  # bytes; Linux leaves so much room below the main thread's stack
# Results that CUDD remembers, of 32 bytes each. It would let them be eight times as many, which is slower:
# they no longer lie in the processor's caches. service_desk(4000) took 151 s then and takes 116 s; refunds(4)
# over the theorem's domain, with diagrams of millions of nodes, 187 s and 125 s.
_MAX_CACHED_RESULTS = 1 << 21
_NODES_BEFORE_COLLECTING = (
    1 << 28
)  # up to so many nodes CUDD rather lets its tables grow than collects dead nodes often


def says_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory has run out, in Python or in CUDD. The operators of `dd` come to
    a `SystemError` then, since they return nothing and raise nothing."""
    return isinstance(error, MemoryError | SystemError) or "run out of memory" in str(error)


class Bdd(Protocol):
    """A node of a diagram: a Boolean function of the manager's variables.

    ``low`` and ``high`` are the branches of the regular node: where the edge is ``negated`` the function's
    own branches are their negations. A constant has no meaningful ``level``.
    """

    def __and__(self, other: Bdd, /) -> Bdd: ...
    def __or__(self, other: Bdd, /) -> Bdd: ...
    def __invert__(self) -> Bdd: ...
    def __le__(self, other: Bdd, /) -> bool: ...
    def equiv(self, other: Bdd, /) -> Bdd: ...
    def __int__(self) -> int: ...

    @property
    def dag_size(self) -> int: ...
    @property
    def support(self) -> set[str]: ...
    @property
    def level(self) -> int: ...
    @property
    def negated(self) -> bool: ...
    @property
    def low(self) -> Bdd: ...
    @property
    def high(self) -> Bdd: ...


class _Prebuilt:
    """A cube that was built before, given to `dd` in place of the names of its variables."""

    __slots__ = ("function",)

    def __init__(self, function: Bdd) -> None:
        self.function = function


class _Searches:
    """Keeps managers that Python's search for cycles has found until the search is over, or the process is.

    A search takes the objects of a cycle apart in any order. A manager whose turn came before that of its
    diagrams would say so on stderr (`Still 6 nodes referenced upon shutdown`) and lose its memory for good.
    """

    def __init__(self) -> None:
        self._running = False
        self._kept: list[object] = []
        self._ending = sys.is_finalizing  # at the end of the process this module's names are gone

    def __call__(self, phase: str, _: object) -> None:
        self._running = phase == "start"
        if not self._running:
            self._kept.clear()

    def keep(self, manager: object) -> None:
        """To be called by a finalizer: where no search runs, nothing refers to a diagram any more either."""
        if self._running or self._ending():
            self._kept.append(manager)


_searches = _Searches()
gc.callbacks.append(_searches)


def _cudd() -> Any:
    """A manager of CUDD that takes `_Prebuilt` cubes. `dd` makes the cube of an `and_exists` and of a
    cofactor anew at each call, in time linear in the number of all variables: at 20,000 of them it takes
    0.4 ms, and the operation itself often less than a microsecond."""

    class Cudd(dd.cudd.BDD):  # type: ignore[misc]  # `dd` has no types
        def cube(self, dvars: Collection[Any]) -> Any:
            first = next(iter(dvars), None)
            return first.function if isinstance(first, _Prebuilt) else super().cube(dvars)

        def __del__(self, keep: Callable[[object], None] = _searches.keep) -> None:
            keep(self)

    return Cudd()


def _autoref() -> Any:
    """A manager in Python, which has nothing to free: where it goes before its diagrams, nothing is wrong."""

    plain: Any = dd.bdd.BDD  # `dd` has no usable types

    class Plain(plain):  # type: ignore[misc]
        def __del__(self) -> None:
            """Without looking for diagrams that are left."""

    manager: Any = dd.autoref.BDD()
    manager._bdd = Plain()
    manager.vars = manager._bdd.vars
    return manager


class Manager:
    """One BDD manager. Variables are named; ``backend=None`` takes CUDD where there is one."""

    def __init__(self, backend: Backend | None = None) -> None:
        if backend is None:
            backend = "cudd" if HAS_CUDD else "autoref"
            if not HAS_CUDD:
                logging.getLogger(__name__).warning(
                    "dd has no CUDD on this platform; the pure-Python diagrams are 4-22 times slower"
                )
        elif backend == "cudd" and not HAS_CUDD:
            raise ImportError("dd was installed without CUDD; use the backend `autoref`")
        self.backend: Backend = backend
        self._bdd = _cudd() if backend == "cudd" else _autoref()
        # The order of `encode.variable_order` beats sifting: refunds, b = 3 over 7 values, took 11 s without
        # and 30 s with it, desks of 16 4 s and 20 s.
        self._bdd.configure(reordering=False)
        if backend == "cudd":
            self._bdd.configure(loose_up_to=_NODES_BEFORE_COLLECTING, max_cache_hard=_MAX_CACHED_RESULTS)
        self._cubes: dict[Bits, Bdd] = {}
        self._points: dict[frozenset[tuple[str, bool]], Bdd] = {}
        self.arrangements = 0
        """How often variables have changed their levels."""
        self.true: Bdd = self._bdd.true
        self.false: Bdd = self._bdd.false

    # variables and their order

    def declare_bottom(self, names: Iterable[str]) -> None:
        """Append variables below all others, in this order."""
        for name in names:
            self._bdd.add_var(name)

    def declare_top(self, names: Iterable[str]) -> None:
        """Insert variables above all others, in this order."""
        for level, name in enumerate(names):
            self._insert(name, level)

    def declare_below(self, name: str, neighbour: str) -> None:
        """Insert a variable right below ``neighbour``."""
        self._insert(name, self.level(neighbour) + 1)

    def declare_above(self, name: str, neighbour: str) -> None:
        """Insert a variable right above ``neighbour``."""
        self._insert(name, self.level(neighbour))

    def _insert(self, name: str, level: int) -> None:
        self.arrangements += 1
        if self.backend == "cudd":
            self._bdd.insert_var(name, level)
            return
        order = sorted(self._bdd.vars, key=self.level)
        self._bdd.add_var(name)
        order.insert(level, name)
        dd.autoref.reorder(self._bdd, {variable: at for at, variable in enumerate(order)})

    def rearrange(self, order: Sequence[str]) -> None:
        """Put the variables into another order; ``order`` has all of them."""
        self.arrangements += 1
        engine: Any = dd.cudd if self.backend == "cudd" else dd.autoref
        engine.reorder(self._bdd, {name: level for level, name in enumerate(order)})
        self._bdd.configure(reordering=False)

    def has(self, name: str) -> bool:
        return name in self._bdd.vars

    # construction

    def var(self, name: str) -> Bdd:
        function: Bdd = self._bdd.var(name)
        return function

    def variable_at(self, level: int) -> Bdd:
        """The variable at a level of the order."""
        return self.var(self._bdd.var_at_level(level))

    def cube(self, assignment: Mapping[str, bool]) -> Bdd:
        """⋀ of the variables and negated variables of ``assignment``.

        `dd`'s own ``cube`` takes time in the number of all variables, not of those in the cube.
        """
        function = self.true
        for name in sorted(assignment, key=self.level, reverse=True):
            function = (self.var(name) if assignment[name] else ~self.var(name)) & function
        return function

    def point(self, assignment: Mapping[str, bool]) -> Bdd:
        """`cube`, kept for the next time."""
        key = frozenset(assignment.items())
        if key not in self._points:
            self._points[key] = self.cube(assignment)
        return self._points[key]

    def conj(self, functions: Iterable[Bdd]) -> Bdd:
        """⋀ of the functions, as a balanced tree, stopping at false."""
        level = list(functions)
        while len(level) > 1:
            level = [a & b for a, b in _pairs(level, self.true)]
            if self.false in level:
                return self.false
        return level[0] if level else self.true

    def disj(self, functions: Iterable[Bdd]) -> Bdd:
        """⋁ of the functions, as a balanced tree."""
        level = list(functions)
        while len(level) > 1:
            level = [a | b for a, b in _pairs(level, self.false)]
        return level[0] if level else self.false

    def ite(self, condition: Bdd, then: Bdd, otherwise: Bdd) -> Bdd:
        function: Bdd = self._bdd.ite(condition, then, otherwise)
        return function

    def implies(self, left: Bdd, right: Bdd) -> bool:
        """Whether right is true wherever left is, found out without building anything."""
        return left <= right

    def at_least(self, number: int, functions: Iterable[Bdd]) -> Bdd:
        """At least ``number`` of the functions hold."""
        possible = [function for function in functions if function != self.false]
        return self.false if number > len(possible) else self.thresholds(number, possible)[-1]

    def thresholds(self, number: int, functions: Iterable[Bdd]) -> Sequence[Bdd]:
        """At position k, for k up to ``number``: at least k of the functions hold.

        Symmetric functions: the table over "how many so far" has n·k entries for n functions and a number
        k, and a diagram no more levels than that per function.
        """
        reached = [self.true, *[self.false] * max(number, 0)]  # reached[k]: at least k of those seen
        for function in functions:
            for k in range(len(reached) - 1, 0, -1):
                reached[k] = self.ite(function, reached[k - 1], reached[k])
        return reached

    # quantification and substitution

    def exist(self, bits: Bits, function: Bdd) -> Bdd:
        """∃ bits. function"""
        if not bits or function in (self.true, self.false):
            return function
        result: Bdd = self._bdd.apply("\\E", self._cube_of(bits), function)
        return result

    def and_exist(self, bits: Bits, left: Bdd, right: Bdd) -> Bdd:
        """∃ bits. left ∧ right, without building the conjunction where the backend can.

        Where the conjunction is small, ``exist(bits, left & right)`` is several times faster.
        """
        if not bits:
            return left & right
        if self.false in (left, right):
            return self.false
        if self.backend == "cudd":
            result: Bdd = dd.cudd.and_exists(left, right, (_Prebuilt(self._cube_of(bits)),))
            return result
        return self.exist(bits, left & right)

    def substitute(self, function: Bdd, values: Mapping[str, Bdd]) -> Bdd:
        """function with every variable of ``values`` replaced by its function, simultaneously."""
        if not values:
            return function
        result: Bdd = self._bdd.let(dict(values), function)
        return result

    def cofactor(self, function: Bdd, values: Mapping[str, bool]) -> Bdd:
        """function with some variables fixed."""
        if not values or function in (self.true, self.false):
            return function
        if self.backend == "cudd":
            result: Bdd = self._bdd.let({_Prebuilt(self.point(values)): True}, function)
        else:
            result = self._bdd.let(dict(values), function)
        return result

    def _cube_of(self, bits: Bits) -> Bdd:
        cube = self._cubes.get(bits)
        if cube is None:
            cube = self._cubes[bits] = self.cube(dict.fromkeys(bits, True))
        return cube

    # looking into a function

    def pick(self, function: Bdd, bits: Iterable[str]) -> dict[str, bool]:
        """The satisfying assignment to ``bits``, a superset of the support, that has 1 as early as
        possible in the order of the variables, and 0 where the choice does not matter. Raises
        `ValueError` for false.
        """
        if function == self.false:
            raise ValueError("the empty set has no member")
        assignment = dict.fromkeys(bits, False)
        while function != self.true:
            name = self._top(function)
            low, high = self.branches(function)
            assignment[name] = high != self.false
            function = high if assignment[name] else low
        return assignment

    def nearest(self, function: Bdd, assignment: Mapping[str, bool]) -> dict[str, bool]:
        """A satisfying assignment that differs from the given one, to a superset of the support, in as few
        bits as any. Raises `ValueError` for false. Linear in the nodes of the function."""
        if function == self.false:
            raise ValueError("the empty set has no member")
        least: dict[Bdd, float] = {self.true: 0, self.false: math.inf}  # bits that differ, from a node on
        todo = [function]
        while todo:
            node = todo[-1]
            below = [] if node in least else [half for half in self.branches(node) if half not in least]
            if below:
                todo += below
                continue
            todo.pop()
            if node not in least:
                branches = self.branches(node)
                same = assignment[self._top(node)]
                least[node] = min(least[branches[same]], 1 + least[branches[not same]])
        found = dict(assignment)
        while function != self.true:
            branches, name = self.branches(function), self._top(function)
            found[name] ^= least[branches[found[name]]] > 1 + least[branches[not found[name]]]
            function = branches[found[name]]
        return found

    def depth(self, function: Bdd) -> int:
        """The level of the topmost variable of a function; that of a constant is below all."""
        return self.variables if function in (self.true, self.false) else function.level

    def path(self, function: Bdd) -> dict[str, bool]:
        """A partial assignment under which the function is true: one path to the leaf. Raises
        `ValueError` for false."""
        if function == self.false:
            raise ValueError("the empty set has no member")
        assignment: dict[str, bool] = {}
        while function != self.true:
            low, high = self.branches(function)
            assignment[self._top(function)] = low == self.false
            function = high if low == self.false else low
        return assignment

    def support(self, function: Bdd) -> Bits:
        """The variables that a function depends on: one step for each of its nodes. `dd`'s own takes time in
        the number of all variables."""
        seen, levels, todo = set[Bdd](), set[int](), [function]
        while todo:
            node = todo.pop()
            if node in (self.true, self.false) or node in seen:
                continue
            seen |= {node, ~node}
            levels.add(node.level)
            todo += (node.low, node.high)
        return frozenset(map(self._bdd.var_at_level, levels))

    def descend(self, function: Bdd, assignment: Mapping[str, bool]) -> Bdd:
        """What is left of a function where variables have these values that stand above all its others: one
        step for each of them."""
        while function not in (self.true, self.false) and (name := self._top(function)) in assignment:
            function = self.branches(function)[assignment[name]]
        return function

    def satisfies(self, function: Bdd, assignment: Mapping[str, bool]) -> bool:
        """The value of the function where ``assignment`` covers its support: one walk to the leaf."""
        while function not in (self.true, self.false):
            low, high = self.branches(function)
            function = high if assignment[self._top(function)] else low
        return function == self.true

    def cases(self, function: Bdd, bits: Sequence[str]) -> Iterator[tuple[dict[str, bool], Bdd]]:
        """The assignments to ``bits`` under which the function is not false, each with what is
        left of the function, in the order of ``bits``. No other assignment is looked at."""
        if function == self.false:
            return
        if not bits:
            yield {}, function
            return
        first, rest = bits[0], bits[1:]
        level, top = self.level(first), self.depth(function)
        if level < top:  # the function does not depend on it
            halves = (function, function)
        elif level == top:
            halves = self.branches(function)
        else:
            halves = (self.cofactor(function, {first: False}), self.cofactor(function, {first: True}))
        for value, half in zip((False, True), halves, strict=True):
            for assignment, leaf in self.cases(half, rest):
                yield {first: value, **assignment}, leaf

    def sets(self, function: Bdd) -> Iterator[tuple[str, ...]]:
        """For each path of a function to true the variables that are 1 on it, first those with 1 as early as
        possible. Where every such path passes all of some variables these are the models over them: it takes
        a step per node of a path to find them, and nothing is built."""
        todo: list[tuple[Bdd, tuple[str, ...]]] = [(function, ())]
        while todo:
            node, on = todo.pop()
            while node not in (self.true, self.false):
                low, high = self.branches(node)
                if high == self.false:
                    node = low
                    continue
                if low != self.false:
                    todo.append((low, on))
                node, on = high, (*on, self._top(node))
            if node == self.true:
                yield on

    def count(self, function: Bdd, bits: Bits) -> int:
        """How many assignments to ``bits``, a superset of the support, satisfy it, exactly (`counting`)."""
        ranks = {level: rank for rank, level in enumerate(sorted(map(self.level, bits)))}
        return models(function, self.true, ranks, self.node)

    @staticmethod
    def branches(function: Bdd) -> tuple[Bdd, Bdd]:
        """What is left of a function, no constant, where its topmost variable is 0, and where it is 1."""
        low, high = function.low, function.high
        return (~low, ~high) if function.negated else (low, high)

    def _top(self, node: Any) -> str:
        name: str = self._bdd.var_at_level(node.level)
        return name

    def level(self, name: str) -> int:
        """The place of a variable in the order, from 0 at the top."""
        level: int = self._bdd.level_of_var(name)
        return level

    @cached_property
    def node(self) -> Callable[[int], int]:
        """The number of the edge to a node that is not negated, given that of either of the two: of CUDD an
        address, whose last bit says whether the edge is negated."""
        return abs if self.backend == "autoref" else (~1).__and__

    @property
    def variables(self) -> int:
        """How many variables are declared."""
        return len(self._bdd.vars)

    @property
    def nodes(self) -> int:
        """How many nodes the manager holds now. CUDD keeps that number; `len` of its manager looks at every
        node instead."""
        return len(self._bdd) if self.backend == "autoref" else self._counted("n_nodes")

    @property
    def steps(self) -> int | None:
        """How many steps the operations on diagrams took so far: each looks up once whether its answer is
        known. A measure of work that no clock and no other process has a part in; None where the backend does
        not count."""
        return None if self.backend == "autoref" else self._counted("cache_lookups")

    def _counted(self, name: str) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `dd` warns that other figures have changed their meaning
            return int(self._bdd.statistics()[name])


def _pairs(items: list[Bdd], unit: Bdd) -> Iterator[tuple[Bdd, Bdd]]:
    for k in range(0, len(items), 2):
        yield items[k], items[k + 1] if k + 1 < len(items) else unit


@contextmanager
def deep_stack() -> Iterator[None]:
    """Stack enough for diagrams with hundreds of thousands of variables; also a decorator of functions.

    CUDD recurses once per variable on a path, and on the usual 8 MiB of stack it ends the process at some
    50,000 variables. The stack of the main thread grows up to the soft limit of the moment (other threads
    have stacks of a fixed size), so the limit is raised while diagrams are worked on and then restored.
    """
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(_STACK_BYTES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        yield
        return
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@contextmanager
def at_work() -> Iterator[None]:
    """What work on large diagrams needs; also a decorator of functions."""
    with deep_stack(), seldom_collecting():
        yield


@contextmanager
def deep(frames: int) -> Iterator[None]:
    """Python's recursion limit raised to at least this many frames, and restored at the end."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
