"""Binary decision diagrams: the one file that imports `dd`.

`Manager` owns the variables and their order. It hides the differences between CUDD (`dd.cudd`) and the
pure-Python backend (`dd.autoref`, for platforms without CUDD). It adds what `dd` lacks: exact counting,
insertion of a variable at a level, and quantification by prebuilt cubes.
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

from stead_sym.engines.symbolic.bdd.counting import models
from stead_sym.support.extras import without
from stead_sym.support.memory import seldom_collecting

with without("networkx"):  # it takes 0.2 s to import, and `dd` needs it for one function alone
    import dd.autoref
    import dd.bdd

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


_STACK_BYTES = 1 << 27  # bytes; Linux reserves this much below the main thread's stack
# The maximum size of CUDD's computed table, in entries of 32 bytes. CUDD's default is eight times as large
# and slower, because it exceeds the processor's caches: service_desk(4000) takes 116 s instead of 151 s,
# refunds(4) over the theorem's domain, with diagrams of millions of nodes, 125 s instead of 187 s.
_MAX_CACHED_RESULTS = 1 << 21
# The initial size of that table. CUDD enlarges it while results are found in it. With CUDD's default, four
# times as large, it takes 15 ms to create a manager instead of 2.4 ms.
_CACHED_RESULTS = 1 << 16
# The memory that CUDD is told to expect, in bytes. It is no limit: CUDD reserves a share of it for the case
# that memory runs out. With the default of `dd`, 1 GiB, a manager takes 1.5 ms to create instead of 0.2 ms.
_EXPECTED_MEMORY = 1 << 26
_NODES_BEFORE_COLLECTING = (
    1 << 28
)  # up to this number of nodes CUDD enlarges its tables instead of collecting dead nodes often


def says_out_of_memory(error: BaseException) -> bool:
    """Return True if an exception reports that memory has run out, in Python or in CUDD.

    The operators of `dd` return NULL without an exception then, which Python reports as `SystemError`.
    """
    return isinstance(error, MemoryError | SystemError) or "run out of memory" in str(error)


class Bdd(Protocol):
    """A node of a diagram: a Boolean function of the manager's variables.

    ``low`` and ``high`` are the branches of the regular node: if the edge is ``negated``, the function's own
    branches are their negations. A constant has no meaningful ``level``.
    """

    def __and__(self, other: Bdd, /) -> Bdd:
        """Return the conjunction."""
        ...

    def __or__(self, other: Bdd, /) -> Bdd:
        """Return the disjunction."""
        ...

    def __invert__(self) -> Bdd:
        """Return the negation."""
        ...

    def __le__(self, other: Bdd, /) -> bool:
        """Return True if this function implies the other."""
        ...

    def equiv(self, other: Bdd, /) -> Bdd:
        """Return the equivalence."""
        ...

    def __int__(self) -> int:
        """Return the number of the edge to the node."""
        ...

    @property
    def dag_size(self) -> int:
        """The number of nodes."""
        ...

    @property
    def support(self) -> set[str]:
        """The names of the variables on which the function depends."""
        ...

    @property
    def level(self) -> int:
        """The level of the topmost variable."""
        ...

    @property
    def negated(self) -> bool:
        """True if the edge to the node is complemented."""
        ...

    @property
    def low(self) -> Bdd:
        """The branch of the regular node where its variable is 0."""
        ...

    @property
    def high(self) -> Bdd:
        """The branch of the regular node where its variable is 1."""
        ...


class _Prebuilt:
    """A cube that was built before, passed to `dd` instead of the names of its variables."""

    __slots__ = ("function",)

    def __init__(self, function: Bdd) -> None:
        self.function = function


class _Searches:
    """A holder that keeps managers alive while the garbage collector runs, and at the end of the process.

    The collector clears the objects of a cycle in any order. A manager that is cleared before its diagrams
    would print `Still 6 nodes referenced upon shutdown` on stderr and leak its memory.
    """

    def __init__(self) -> None:
        self._running = False
        self._kept: list[object] = []
        self._ending = sys.is_finalizing  # this module's names are deleted at the process's end

    def __call__(self, phase: str, _: object) -> None:
        """Note the start of a collection, and release the managers at its end."""
        self._running = phase == "start"
        if not self._running:
            self._kept.clear()

    def keep(self, manager: object) -> None:
        """Keep a manager that is being finalized, if a collection is running or the process is ending.

        A finalizer calls it. At any other time no reference to a diagram is left either.
        """
        if self._running or self._ending():
            self._kept.append(manager)


_searches = _Searches()
gc.callbacks.append(_searches)


def _cudd() -> Any:
    """Return a manager of CUDD that accepts `_Prebuilt` cubes.

    `dd` rebuilds the cube of an `and_exists` and of a cofactor at each call, in time linear in the number of
    all variables. At 20,000 of them it takes 0.4 ms, and the operation itself often less than a microsecond.
    """

    class Cudd(dd.cudd.BDD):  # type: ignore[misc]  # `dd` has no types
        def cube(self, dvars: Collection[Any]) -> Any:
            """Return the prebuilt cube, or build one."""
            first = next(iter(dvars), None)
            return first.function if isinstance(first, _Prebuilt) else super().cube(dvars)

        def __del__(self, keep: Callable[[object], None] = _searches.keep) -> None:
            """Delay the deallocation until the diagrams are gone."""
            keep(self)

    return Cudd(memory_estimate=_EXPECTED_MEMORY, initial_cache_size=_CACHED_RESULTS)


def _autoref() -> Any:
    """Return a manager in Python, which has nothing to free and may be cleared before its diagrams."""
    plain: Any = dd.bdd.BDD  # `dd` has no usable types

    class Plain(plain):  # type: ignore[misc]
        def __del__(self) -> None:
            """Do not check for remaining diagrams."""

    manager: Any = dd.autoref.BDD()
    manager._bdd = Plain()
    manager.vars = manager._bdd.vars
    return manager


class Manager:
    """A BDD manager with named variables; ``backend=None`` selects CUDD if it is available."""

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
        # The order of `encode.variable_order` is better than sifting: refunds, b = 3 over 7 values, take 11 s
        # without sifting and 30 s with it, desks of 16 take 4 s and 20 s.
        limits = {"loose_up_to": _NODES_BEFORE_COLLECTING, "max_cache_hard": _MAX_CACHED_RESULTS}
        self._bdd.configure(reordering=False, **(limits if backend == "cudd" else {}))
        self._cubes: dict[Bits, Bdd] = {}
        self._points: dict[frozenset[tuple[str, bool]], Bdd] = {}
        self.arrangements = 0
        """The number of changes of the variable order."""
        self.true: Bdd = self._bdd.true
        self.false: Bdd = self._bdd.false

    # Variables and their order.

    def declare_bottom(self, names: Iterable[str]) -> None:
        """Append variables below all others, in this order."""
        for name in names:
            self._bdd.add_var(name)

    def declare_top(self, names: Iterable[str]) -> None:
        """Insert variables above all others, in this order."""
        for level, name in enumerate(names):
            self._insert(name, level)

    def declare_below(self, name: str, neighbour: str) -> None:
        """Insert a variable directly below ``neighbour``."""
        self._insert(name, self.level(neighbour) + 1)

    def declare_above(self, name: str, neighbour: str) -> None:
        """Insert a variable directly above ``neighbour``."""
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
        """Change the variable order to ``order``, which has all variables."""
        self.arrangements += 1
        engine: Any = dd.cudd if self.backend == "cudd" else dd.autoref
        engine.reorder(self._bdd, {name: level for level, name in enumerate(order)})
        self._bdd.configure(reordering=False)

    def sift(self) -> None:
        """Let the variable order change by sifting whenever the diagrams have grown."""
        self._bdd.configure(reordering=True)

    def has(self, name: str) -> bool:
        """Return True if the variable is declared."""
        return name in self._bdd.vars

    # Construction.

    def var(self, name: str) -> Bdd:
        """Return the function of a variable."""
        function: Bdd = self._bdd.var(name)
        return function

    def variable_at(self, level: int) -> Bdd:
        """Return the variable at a level of the order."""
        return self.var(self._bdd.var_at_level(level))

    def cube(self, assignment: Mapping[str, bool]) -> Bdd:
        """Return ⋀ of the variables and negated variables of ``assignment``.

        The time is linear in the cube; `dd`'s own ``cube`` takes time linear in the number of all variables.
        """
        function = self.true
        for name in sorted(assignment, key=self.level, reverse=True):
            function = (self.var(name) if assignment[name] else ~self.var(name)) & function
        return function

    def point(self, assignment: Mapping[str, bool]) -> Bdd:
        """Return the `cube`, cached."""
        key = frozenset(assignment.items())
        if key not in self._points:
            self._points[key] = self.cube(assignment)
        return self._points[key]

    def conj(self, functions: Iterable[Bdd]) -> Bdd:
        """Return ⋀ of the functions, computed as a balanced tree; stop at false."""
        level = list(functions)
        while len(level) > 1:
            level = [a & b for a, b in _pairs(level, self.true)]
            if self.false in level:
                return self.false
        return level[0] if level else self.true

    def disj(self, functions: Iterable[Bdd]) -> Bdd:
        """Return ⋁ of the functions, computed as a balanced tree."""
        level = list(functions)
        while len(level) > 1:
            level = [a | b for a, b in _pairs(level, self.false)]
        return level[0] if level else self.false

    def ite(self, condition: Bdd, then: Bdd, otherwise: Bdd) -> Bdd:
        """Return ``then`` where the condition is true, and ``otherwise`` elsewhere."""
        function: Bdd = self._bdd.ite(condition, then, otherwise)
        return function

    def implies(self, left: Bdd, right: Bdd) -> bool:
        """Return True if left implies right, without building a diagram."""
        return left <= right

    def at_least(self, number: int, functions: Iterable[Bdd]) -> Bdd:
        """Return the function "at least ``number`` of the functions are true"."""
        possible = [function for function in functions if function != self.false]
        return self.false if number > len(possible) else self.thresholds(number, possible)[-1]

    def thresholds(self, number: int, functions: Iterable[Bdd]) -> Sequence[Bdd]:
        """Return, at position k for k up to ``number``, "at least k of the functions are true".

        These are symmetric functions: for n functions and a number k the table of partial counts has n·k
        entries, and a diagram has at most that many levels per function.
        """
        reached = [self.true, *[self.false] * max(number, 0)]  # reached[k]: at least k so far
        for function in functions:
            for k in range(len(reached) - 1, 0, -1):
                reached[k] = self.ite(function, reached[k - 1], reached[k])
        return reached

    # Quantification and substitution.

    def exist(self, bits: Bits, function: Bdd) -> Bdd:
        """Return ∃ bits. function."""
        if not bits or function in (self.true, self.false):
            return function
        result: Bdd = self._bdd.apply("\\E", self._cube_of(bits), function)
        return result

    def and_exist(self, bits: Bits, left: Bdd, right: Bdd) -> Bdd:
        """Return ∃ bits. left ∧ right, without building the conjunction if the backend supports that.

        If the conjunction is small, ``exist(bits, left & right)`` is several times faster.
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
        """Return the function with every variable of ``values`` replaced by its function, simultaneously."""
        if not values:
            return function
        result: Bdd = self._bdd.let(dict(values), function)
        return result

    def cofactor(self, function: Bdd, values: Mapping[str, bool]) -> Bdd:
        """Return the function with some variables fixed."""
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

    # Inspection of a function.

    def pick(self, function: Bdd, bits: Iterable[str]) -> dict[str, bool]:
        """Return the lexicographically greatest satisfying assignment to ``bits``, in the variable order.

        ``bits`` is a superset of the support. Variables that do not matter are 0. Raise `ValueError` for
        false.
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
        """Return a satisfying assignment with the least Hamming distance to the given one.

        The given assignment is to a superset of the support. The time is linear in the nodes of the function.
        Raise `ValueError` for false.
        """
        if function == self.false:
            raise ValueError("the empty set has no member")
        least: dict[Bdd, float] = {self.true: 0, self.false: math.inf}  # differing bits below a node
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
        """Return the level of the topmost variable of a function; that of a constant is below all."""
        return self.variables if function in (self.true, self.false) else function.level

    def path(self, function: Bdd) -> dict[str, bool]:
        """Return a partial assignment that makes the function true: one path to the leaf.

        Raise `ValueError` for false.
        """
        if function == self.false:
            raise ValueError("the empty set has no member")
        assignment: dict[str, bool] = {}
        while function != self.true:
            low, high = self.branches(function)
            assignment[self._top(function)] = low == self.false
            function = high if low == self.false else low
        return assignment

    def support(self, function: Bdd) -> Bits:
        """Return the variables that a function depends on, in one step per node.

        `dd`'s own takes time linear in the number of all variables.
        """
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
        """Return the cofactor by variables above all others of the function, in one step for each of them."""
        while function not in (self.true, self.false) and (name := self._top(function)) in assignment:
            function = self.branches(function)[assignment[name]]
        return function

    def satisfies(self, function: Bdd, assignment: Mapping[str, bool]) -> bool:
        """Return the function's value under an assignment that covers its support, in one walk down."""
        while function not in (self.true, self.false):
            low, high = self.branches(function)
            function = high if assignment[self._top(function)] else low
        return function == self.true

    def cases(self, function: Bdd, bits: Sequence[str]) -> Iterator[tuple[dict[str, bool], Bdd]]:
        """Yield the assignments to ``bits`` under which the function is not false, each with the cofactor.

        They come in the lexicographic order of ``bits``. No other assignment is enumerated.
        """
        if function == self.false:
            return
        if not bits:
            yield {}, function
            return
        first, rest = bits[0], bits[1:]
        level, top = self.level(first), self.depth(function)
        if level < top:  # the function does not depend on the bit
            halves = (function, function)
        elif level == top:
            halves = self.branches(function)
        else:
            halves = (self.cofactor(function, {first: False}), self.cofactor(function, {first: True}))
        for value, half in zip((False, True), halves, strict=True):
            for assignment, leaf in self.cases(half, rest):
                yield {first: value, **assignment}, leaf

    def sets(self, function: Bdd) -> Iterator[tuple[str, ...]]:
        """Yield, for each path of a function to true, the variables that are 1 on it, in descending order.

        If every such path tests all of some variables, these are the models over them. Each takes one step
        per node of its path, and no diagram is built.
        """
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
        """Return the exact number of satisfying assignments to ``bits``, a superset of the support.

        See `counting`.
        """
        ranks = {level: rank for rank, level in enumerate(sorted(map(self.level, bits)))}
        return models(function, self.true, ranks, self.node)

    @staticmethod
    def branches(function: Bdd) -> tuple[Bdd, Bdd]:
        """Return the cofactors of a function, not a constant, with its topmost variable 0, and with it 1."""
        low, high = function.low, function.high
        return (~low, ~high) if function.negated else (low, high)

    def _top(self, node: Any) -> str:
        name: str = self._bdd.var_at_level(node.level)
        return name

    def level(self, name: str) -> int:
        """Return the position of a variable in the order, from 0 at the top."""
        level: int = self._bdd.level_of_var(name)
        return level

    @cached_property
    def node(self) -> Callable[[int], int]:
        """The function from the number of an edge to that of the regular edge to the same node.

        In CUDD an edge is an address whose last bit is set if it is complemented.
        """
        return abs if self.backend == "autoref" else (~1).__and__

    @property
    def variables(self) -> int:
        """The number of declared variables."""
        return len(self._bdd.vars)

    @property
    def nodes(self) -> int:
        """The number of nodes in the manager.

        CUDD maintains that number, whereas `len` of its manager traverses all nodes.
        """
        return len(self._bdd) if self.backend == "autoref" else self._counted("n_nodes")

    @property
    def steps(self) -> int | None:
        """The number of steps of all operations on diagrams, one for each look-up in the computed table.

        It measures work independently of clocks and other processes. None if the backend does not count.
        """
        return None if self.backend == "autoref" else self._counted("cache_lookups")

    def _counted(self, name: str) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `dd` warns that the meaning of other figures has changed
            return int(self._bdd.statistics()[name])


def _pairs(items: list[Bdd], unit: Bdd) -> Iterator[tuple[Bdd, Bdd]]:
    for k in range(0, len(items), 2):
        yield items[k], items[k + 1] if k + 1 < len(items) else unit


@contextmanager
def deep_stack() -> Iterator[None]:
    """Enlarge the stack for diagrams with hundreds of thousands of variables; also a decorator of functions.

    CUDD recurses once per variable on a path; with the usual stack of 8 MiB it crashes the process at some
    50,000 variables. The stack of the main thread grows up to the current soft limit (other threads have
    stacks of a fixed size). So the limit is raised for the duration of the work on diagrams and then
    restored.
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
    """Prepare the process for work on large diagrams; also a decorator of functions."""
    with deep_stack(), seldom_collecting():
        yield


@contextmanager
def deep(frames: int) -> Iterator[None]:
    """Raise Python's recursion limit to at least this many frames, and restore it at the end."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
