"""`families.service_desk(n)` under its careful policy, by hand: plain code on `dd.cudd` for this one family.

    python benchmarks/service_desk.py 100           one JSON row: verdicts, counts, CPU seconds, MiB

What the general engine is measured against (`handwritten.py`); it uses nothing of it. One decision: whether
an order is the one in hand is a bit right above the order's own bits, and what kind of request it is and how
far it has come are two numbers at the top. A set of states is then a chain of the orders with a few branches,
linear in their number. (The number of the order in hand, in bits at the top, would need a copy of the chain
for each order.) No step needs a second copy of the state: images and preimages are of assignments.

The programmer knows the policy as a formula: nothing is asked and there are no contexts. Nor does anything
say that this is the same system: the tests compare it with both engines.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import and_, or_

from dd.cudd import BDD, Function

PENDING, DELIVERED, CANCELLED, RETURNED = range(4)
IDLE, REQUESTED, AUTHENTICATED, GRANTED = range(4)
CANCEL, TAKE_BACK, CHANGE = KINDS = range(3)


def wallets(n: int) -> list[int]:
    """Return how many methods are in the wallet of each order's owner. Order i is of the user u(i // 3), and
    the k-th user by name has 1 + k mod 3 methods. The first of them is charged in the beginning."""
    users = [f"u{i // 3}" for i in range(n)]
    size = {user: 1 + k % 3 for k, user in enumerate(sorted(set(users)))}
    return [size[user] for user in users]


class Number:
    """Bits that hold a number."""

    def __init__(self, bdd: BDD, name: str, largest: int) -> None:
        self.bdd = bdd
        self.names = [f"{name}.{k}" for k in range(largest.bit_length())]
        bdd.declare(*self.names)
        self.bits = [bdd.var(bit) for bit in self.names]
        self.cube = reduce(and_, self.bits)

    def is_(self, value: int) -> Function:
        # `BDD.cube` takes time linear in the number of all variables
        return reduce(and_, (bit if value >> k & 1 else ~bit for k, bit in enumerate(self.bits)))

    def below(self, limit: int) -> Function:
        """For limits that the bits can hold."""
        found = self.bdd.false
        for k, bit in enumerate(self.bits):
            found = ~bit | found if limit >> k & 1 else ~bit & found
        return found


@dataclass(frozen=True)
class Step:
    """A step: if ``guard`` holds, the variables of the cube ``written`` are set as ``new`` says; the others
    stay. ``new`` ranges over these variables only, and more than one valuation in it is a free choice."""

    guard: Function
    written: Function
    new: Function

    def image(self, states: Function) -> Function:
        return self.new & _exists(self.written, states & self.guard)

    def preimage(self, states: Function) -> Function:
        return self.guard & _exists(self.written, states & self.new)


def _exists(cube: Function, states: Function) -> Function:
    return cube.bdd.apply(r"\E", cube, states)


@dataclass(frozen=True)
class Change:
    """A step that also gives each variable named in ``after`` the value that its function has before; none of
    them is written by the step."""

    step: Step
    after: dict[str, Function]

    def preimage(self, states: Function) -> Function:
        then = _exists(self.step.written, states & self.step.new)
        return self.step.guard & then.bdd.let(self.after, then)


@dataclass(frozen=True)
class Closing:
    """The end of a granted request, which sets a number of the order in hand to ``new``, if that is order i
    where ``where[i]`` holds."""

    kind: int
    numbers: list[Number]
    new: int
    where: list[Function]


class Desk:
    """The state of the desk in bits, and its steps.

    The bits can hold more than the desk does: several orders in hand, any status of any order, and a number
    that is no method of the wallet. That none of these happens is for the specifications to say.
    """

    def __init__(self, n: int) -> None:
        self.wallets = wallets(n)
        self.orders = range(n)
        self.bdd = bdd = BDD()
        bdd.configure(reordering=False)
        self.phase = Number(bdd, "phase", GRANTED)
        self.kind = Number(bdd, "kind", CHANGE)
        self.here, self.status, self.paid = list[Function](), list[Number](), list[Number]()
        for i, size in enumerate(self.wallets):
            bdd.declare(f"here{i}")
            self.here.append(bdd.var(f"here{i}"))
            self.status.append(Number(bdd, f"status{i}", RETURNED))
            self.paid.append(Number(bdd, f"paid{i}", size))
        none, one = bdd.true, bdd.false
        for here in reversed(self.here):
            none, one = none & ~here, bdd.ite(here, none, one)
        self.one = one

        pending, delivered = ([status.is_(value) for status in self.status] for value in (PENDING, DELIVERED))
        otherwise = [
            [
                ~paid.is_(method) if method < size else bdd.false
                for paid, size in zip(self.paid, self.wallets, strict=True)
            ]
            for method in range(max(self.wallets))
        ]
        self.closing = [
            Closing(CANCEL, self.status, CANCELLED, pending),
            Closing(TAKE_BACK, self.status, RETURNED, delivered),
            *(Closing(CHANGE, self.paid, method, where) for method, where in enumerate(otherwise)),
        ]
        self.worthwhile = self.any(self.enabled(closing) for closing in self.closing)
        """The states in which the policy asks for a confirmation, which is then offered."""

        phase, top = self.phase.is_, self.phase.cube & self.kind.cube
        register = reduce(and_, reversed(self.here), bdd.true) & top
        self.nothing_in_hand = phase(IDLE) & self.kind.is_(0) & none
        a_request = phase(REQUESTED) & self.kind.below(len(KINDS))
        self.request = Step(phase(IDLE), register, a_request & one)
        self.authenticate = Step(phase(REQUESTED), self.phase.cube, phase(AUTHENTICATED))
        self.grant = Step(phase(AUTHENTICATED) & self.worthwhile, self.phase.cube, phase(GRANTED))
        self.refuse = Step(self.grant.guard, register, self.nothing_in_hand)
        self.hand_over = Step(
            (phase(AUTHENTICATED) | phase(GRANTED)) & ~self.worthwhile, register, self.nothing_in_hand
        )
        self.backward = [
            *map(self.change, self.closing),
            *(self.hand_over, self.refuse, self.grant, self.authenticate, self.request),
        ]
        """All steps, the last of a request first."""

    def enabled(self, closing: Closing) -> Function:
        """Of a request that is granted."""
        return self.kind.is_(closing.kind) & self.in_hand(closing.where)

    def in_hand(self, facts: Sequence[Function]) -> Function:
        """{ D : the order in hand is i and the i-th fact holds, for some i }, where one is in hand."""
        found = self.bdd.false
        for here, fact in zip(reversed(self.here), reversed(facts), strict=True):
            found = self.bdd.ite(here, fact, found)
        return found

    def any(self, sets: Iterable[Function]) -> Function:
        return reduce(or_, sets, self.bdd.false)

    def reach(self) -> Function:
        """The reachable states, saturated from the last order up.

        What one order's requests change is this order's. So the idle states over the bits of the orders
        from i on are those over the orders from i + 1 on, which are closed under the requests of these,
        with i as it is in the beginning, closed under the requests of i.
        """
        idle = self.phase.is_(IDLE) & self.kind.is_(0)
        for i in reversed(self.orders):
            idle &= ~self.here[i] & self.paid[i].is_(0)
            idle &= self.status[i].is_(DELIVERED if i % 2 else PENDING)
            closing = [self.closing_of(closing, i) for closing in self.closing]
            before = self.bdd.false
            while idle != before:
                before = idle
                requested = self.request_of(i).image(idle)
                granted = self.grant_of(i).image(self.authenticate.image(requested))
                idle = self.any((idle, *(step.image(granted) for step in closing)))
        requested = self.request.image(idle)
        authenticated = self.authenticate.image(requested)
        return idle | requested | authenticated | self.grant.image(authenticated)

    def request_of(self, i: int) -> Step:
        """The request for order i."""
        here = self.here[i]
        return Step(
            self.phase.is_(IDLE),
            self.phase.cube & self.kind.cube & here,
            self.phase.is_(REQUESTED) & self.kind.below(len(KINDS)) & here,
        )

    def grant_of(self, i: int) -> Step:
        """The confirmation of a request about order i."""
        worthwhile = self.any(self.kind.is_(closing.kind) & closing.where[i] for closing in self.closing)
        return Step(self.phase.is_(AUTHENTICATED) & worthwhile, self.phase.cube, self.phase.is_(GRANTED))

    def closing_of(self, closing: Closing, i: int) -> Step:
        """The closing of requests about order i."""
        here, number = self.here[i], closing.numbers[i]
        return Step(
            self.phase.is_(GRANTED) & self.kind.is_(closing.kind) & here & closing.where[i],
            self.phase.cube & self.kind.cube & here & number.cube,
            self.phase.is_(IDLE) & self.kind.is_(0) & ~here & number.is_(closing.new),
        )

    def change(self, closing: Closing) -> Change:
        """The closing, of requests about any order: what is set is what is in hand."""
        after = {}
        for here, number in zip(self.here, closing.numbers, strict=True):
            for k, (name, bit) in enumerate(zip(number.names, number.bits, strict=True)):
                after[name] = bit | here if closing.new >> k & 1 else bit & ~here
        guard = self.phase.is_(GRANTED) & self.enabled(closing)
        return Change(Step(guard, self.refuse.written, self.refuse.new), after)


@dataclass(frozen=True)
class Answer:
    """The figures to compare: ``nodes`` are those of the reachable states."""

    verdicts: dict[str, bool]
    states: int
    transitions: int
    nodes: int


def solve(n: int) -> Answer:
    """All of `families.service_desk(n)` under its careful policy."""
    desk = Desk(n)
    reached = desk.reach()
    return Answer(verdicts(desk, reached), count(reached), transitions(desk, reached), reached.dag_size)


def verdicts(desk: Desk, reached: Function) -> dict[str, bool]:
    """Return which specifications hold. An order, its owner and its wallet are in every state."""
    nothing = desk.bdd.false
    busy = reached & ~desk.phase.is_(IDLE)
    foreign = desk.any(
        ~paid.below(size) for paid, size in zip(reversed(desk.paid), reversed(desk.wallets), strict=True)
    )
    returned = desk.any(status.is_(RETURNED) for status in reversed(desk.status))
    cancelled = desk.any(status.is_(CANCELLED) for status in reversed(desk.status))

    # EG busy = νZ. busy ∧ EX Z
    forever = busy
    while (less := forever & desk.any(step.preimage(forever) for step in desk.backward)) != forever:
        forever = less

    # EF cancelled = μZ. cancelled ∨ EX Z
    close, before = reached & cancelled, nothing
    while close != before:
        before = close
        for step in desk.backward:
            close |= reached & step.preimage(close)

    # a status changes where a closing sets it, and of the order in hand only
    delivered = desk.in_hand([status.is_(DELIVERED) for status in desk.status])
    lost = desk.any(
        desk.enabled(closing)
        for closing in desk.closing
        if closing.numbers is desk.status and closing.new not in (DELIVERED, RETURNED)
    )
    return {
        "own_wallet": reached & foreign == nothing,
        "one_at_a_time": busy & ~desk.one == nothing,
        "answered": forever == nothing,
        "delivered_stays": reached & desk.phase.is_(GRANTED) & lost & delivered == nothing,
        "may_close": busy & ~close == nothing,
        "never_returned": reached & returned == nothing,
    }


def transitions(desk: Desk, reached: Function) -> int:
    """The number of pairs D → D'. Steps from one state that differ lead to different states: in a request, in
    whether there is one, in what is charged."""
    granted = reached & desk.phase.is_(GRANTED)
    steps = [desk.authenticate, desk.grant, desk.refuse, desk.hand_over]
    return (
        len(desk.orders) * len(KINDS) * count(reached & desk.request.guard)
        + sum(count(reached & step.guard) for step in steps)
        + sum(count(granted & desk.enabled(closing)) for closing in desk.closing)
    )


def count(states: Function) -> int:
    """The exact number of valuations of all variables; `dd` counts in floating point."""
    width = len(states.bdd.vars)
    unseen, nodes = [states], dict[int, Function]()
    while unseen:
        node = unseen.pop()
        node = ~node if node.negated else node
        if int(node) not in nodes:
            nodes[int(node)] = node
            unseen += [] if node.var is None else [node.low, node.high]
    numbers: dict[int, int] = {}  # of each node, over the variables from its own on

    def number(node: Function, level: int) -> int:
        """Over the variables from the level on, which is not below that of the node."""
        own = min(node.level, width)
        found = (1 << width - own) - numbers[int(~node)] if node.negated else numbers[int(node)]
        return found << own - level

    for key, node in sorted(nodes.items(), key=lambda item: -item[1].level):
        after = node.level + 1
        numbers[key] = 1 if node.var is None else number(node.low, after) + number(node.high, after)
    return number(states, 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", type=int)
    size = parser.parse_args().size
    sys.set_int_max_str_digits(0)  # numbers of states
    started = time.process_time()
    answer = solve(size)
    seconds = round(time.process_time() - started, 4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, on macOS bytes
    mib = peak // (1024 * 1024 if sys.platform == "darwin" else 1024)
    print(json.dumps({"size": size, "seconds": seconds, "mib": mib, **asdict(answer)}))


if __name__ == "__main__":
    main()
