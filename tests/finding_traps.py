"""Deployments that fall into a trap, each beside one that does not: shared by the tests of findings.

`BASE` is a queue of orders: open, paid, gone. Each trap is a text that replaces or extends it.
"""

from __future__ import annotations

from dataclasses import dataclass

BASE = """
deployment orders
sort order
sort state = { open, paid, lost } rigid
relation State(order, state)
relation Flag()
bound order 1
tool place() "A customer orders."
  guard ~exists o, q. State(o, q)
  effect
    fresh o: order
    insert State(o, open)
tool pay(o: order) "Pay."
  guard State(o, open)
  effect
    delete State(o, open)
    insert State(o, paid)
tool close(o: order) "Forget it."
  guard State(o, paid)
  effect
    delete State(o, q) for q
"""


@dataclass(frozen=True)
class Trap:
    """Lines after `BASE`: some that fall into the trap of ``kind``, and some that nearly do."""

    kind: str
    falls: str
    stays_out: str
    policy: str | None = None
    calls: str | None = None


POLICY = "policy p\n  call place()\n  call pay(o)\n  call close(o)\n"

ONCE = "tool ring()\n  guard ~Flag()\n  effect insert Flag()\n" + POLICY.replace(
    "policy p\n", "policy p\n  call ring()\n"
)
TWICE = (
    "relation Twice()\ntool ring()\n  effect when ~Flag()\n    insert Flag()\n"
    "  effect when Flag()\n    insert Twice()\n"
    + POLICY.replace("policy p\n", "policy p\n  call ring() when ~Flag()\n")
)

SIZES = "sort size = 0..3\nrelation Size(size)\ninit Size(3)\n"

TRAPS = (
    Trap(
        "unfair",
        "fair exists o. State(o, lost)\nspec s AG false",
        "fair exists o. State(o, paid)\nspec s AG AF ~exists o. State(o, open)",
    ),
    Trap(
        "unfair",
        "tool stop() guard Flag() effect delete State(o, q) for o, q\n"
        "tool raise() effect insert Flag()\nfair ~Flag()\nfair Flag()\nspec s AG false",
        "tool stop() guard Flag() effect delete State(o, q) for o, q\n"
        "tool raise() effect insert Flag()\nfair Flag()\nspec s for any AG EF Flag()",
    ),
    Trap(
        "premise never true",
        "spec s AG forall o. (State(o, lost) -> AF State(o, paid))",
        "spec s AG forall o. (State(o, open) -> AF State(o, paid))",
    ),
    Trap(
        "premise never true",
        "spec s AG forall o. (State(o, open) -> AX (State(o, open) -> AF State(o, paid)))",
        "spec s AG forall o. (State(o, open) -> AX (State(o, paid) -> AF ~State(o, paid)))",
    ),
    Trap(
        "premise never true",
        "spec s AG forall o. (State(o, open) -> (State(o, paid) -> AF State(o, open)))",
        "spec s AG forall o. (State(o, open) -> (~State(o, paid) -> AF State(o, paid)))",
    ),
    Trap(
        "no value",
        "sort shop\nrelation At(order, shop)\nspec s AG forall o, h. (At(o, h) -> State(o, open))",
        "sort shop\nrelation At(order, shop)\ninit At(o1, h1)\n"
        "spec s AG exists h. forall o. (At(o, h) -> o = o1)",
    ),
    Trap(
        "no value initially",
        "spec s forall o. AG (State(o, open) -> AF State(o, paid))",
        "spec s AG forall o. (State(o, open) -> AF State(o, paid))",
    ),
    Trap(
        "vacuous",
        "spec s AG forall o. (State(o, open) | State(o, paid) | State(o, lost))",
        "spec s AG forall o. (State(o, open) | State(o, paid))",
    ),
    Trap(
        "vacuous",
        "spec s AG forall o. (State(o, paid) -> ~State(o, lost))",
        "spec s AG forall o. (State(o, paid) -> ~State(o, open))",
    ),
    Trap(
        "vacuous",
        "spec s AG forall o. (State(o, open) -> A[Flag() U State(o, open)])",
        "spec s AG forall o. (State(o, open) -> A[State(o, open) U State(o, paid)])",
    ),
    Trap(  # the atom that a variable ranges over stays, and what else the premise asks does not
        "vacuous",
        "spec s AG forall o, q. (State(o, q) & q != lost -> q = open | q = paid)",
        "spec s AG forall o, q. (State(o, q) -> q = open | q = paid)",
    ),
    Trap(
        "vacuous",
        "spec s AG forall q. (~State(_, q) | q != lost | q = open)",
        "spec s AG forall q. (~State(_, q) | q != lost)",
    ),
    Trap(  # nothing is awaited: whatever the premise, the next state has none of it
        "vacuous",
        "spec s AG ((exists o. State(o, paid)) -> AX ~exists o. State(o, lost))",
        "spec s AG ((exists o. State(o, paid)) -> AX ~exists o. State(o, paid))",
    ),
    Trap(
        "never offered",
        "tool refund(o: order) guard State(o, lost) effect delete State(o, lost)",
        "tool refund(o: order) guard State(o, paid) effect delete State(o, paid)",
    ),
    Trap(
        "never selected",
        "tool refund(o: order) guard State(o, paid) effect delete State(o, paid)\n" + POLICY,
        POLICY,
        "p",
    ),
    Trap(
        "never enabled",
        "tool lose(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "  effect when State(o, paid)\n    insert State(o, lost)",
        "tool lose(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "  effect when State(o, open)\n    delete State(o, open)",
    ),
    Trap(
        "never enabled",
        "tool lose(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "  effect\n    choose q: state where q = lost & State(o, q)\n    delete State(o, q)",
        "tool lose(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "  effect\n    choose q: state where q = lost\n    delete State(o, open)\n    insert State(o, q)\n"
        "tool find(o: order) guard State(o, lost) effect delete State(o, lost)",
    ),
    Trap(
        "no change",
        "tool touch(o: order) guard State(o, open) effect insert State(o, open)",
        "tool touch(o: order) guard State(o, open)",
    ),
    Trap(
        "no change",
        "tool touch(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "    insert State(o, q) for q where State(o, q)",
        "tool touch(o: order) guard State(o, open)\n  effect\n    delete State(o, open)\n"
        "    insert State(o, paid) where State(o, open)",
    ),
    Trap(
        "no change",
        "tool sweep() effect clear Flag",
        "tool sweep() effect clear Flag\ntool flag() effect insert Flag()",
    ),
    Trap(
        "rule never matches",
        POLICY + "  call pay(o) when State(o, lost)",
        POLICY.replace("call pay(o)", "call pay(o) when State(o, open)"),
        "p",
    ),
    Trap("no default", "gate g forbid pay(_)", "gate g default allow forbid pay(_)"),
    Trap("rule never selects", POLICY + "  call pay(o)", POLICY, "p"),
    Trap(
        "never filled",
        "spec s AG ~(Flag() & exists o. State(o, paid))",
        "init Flag()\nspec s AG ~(Flag() & exists o. State(o, lost))",
    ),
    Trap(
        "hidden relation",
        "view State(o, q) where q = open\n" + POLICY.replace("place()", "place() when ~Flag()"),
        "view State(o, q) where q = open\nview Flag()\n" + POLICY.replace("place()", "place() when ~Flag()"),
        "p",
    ),
    Trap(
        "never filled",
        "spec s AG ~exists o. (State(o, paid) & once Flag())",
        "init Flag()\nspec s AG ~exists o. (State(o, lost) & once Flag())",
    ),
    Trap(
        "constant comparison",
        SIZES + "spec s AG forall n: size. (Size(n) -> n <= 3)",
        SIZES + "spec s AG forall n: size. (Size(n) -> n + 1 <= 3)",
    ),
    Trap(
        "constant comparison",
        SIZES + "tool see(n: size, m: size) guard n + m = 7 & Size(n)",
        SIZES + "tool see(n: size, m: size) guard n + m = 6",
    ),
    Trap(
        "constant comparison",
        SIZES + "gate g\n  forbid pay(_) when exists n: size. (Size(n) & n - n > 0)\nspec s for g AG true",
        SIZES
        + "gate g default allow\n  forbid close(_) when exists n: size. (Size(n) & n > 2)\n"
        + "spec s for any, g AG true",
    ),
    Trap(
        "limit never reached",
        "tool see() guard (count o: order. State(o, _)) < 2",
        "tool see() guard (count o: order. State(o, _)) < 1",
    ),
    Trap(
        "limit never reached",
        "define many(n: size) = (count o: order. State(o, _)) >= n\n" + SIZES + "tool see() guard many(2)",
        "define many(n: size) = (count o: order. State(o, _)) >= n\n"
        + SIZES
        + "tool see() guard many(0) & ~many(1)",
    ),
    Trap(
        "limit never reached",
        "spec s AG (count o: order. State(o, _)) < 3",
        "spec s AG (count o: order. State(o, _)) < 2",
    ),
    Trap(
        "limit never reached",
        SIZES + "spec s AG (sum n for n: size. Size(n)) >= 2",
        SIZES + "spec s AG (sum n for n: size. Size(n)) >= 3",
    ),
    Trap(
        "past never true",
        "tool see(o: order) guard State(o, open) | once State(o, lost)",
        "tool see(o: order) guard State(o, open) & once State(o, open)",
    ),
    Trap(
        "past never true",
        "tool see(o: order) guard State(o, paid) & (previously State(o, open) | previously Flag())",
        "tool see(o: order) guard State(o, paid) & previously State(o, open)",
    ),
    Trap(
        "gate leaves nothing",
        "gate shut\n  forbid place()\nterminal",
        "gate ajar\nterminal",
    ),
    Trap("never asked", POLICY + "spec s for any, p AG true", POLICY + "spec s for p AG true", "p"),
    Trap(
        "never asked",
        POLICY + POLICY.replace("policy p", "policy q") + "spec s for p, q AG true",
        POLICY + POLICY.replace("policy p", "policy q") + "spec s for q AG true",
        "p",
    ),
    Trap("several calls", TWICE + "spec s AG ~Twice()", ONCE + "spec s AG EF Flag()", "p", "batch 2"),
    Trap("several calls", TWICE + "spec s EF Twice()", ONCE + "spec s EF Flag()", "p", "batch 2"),
)
