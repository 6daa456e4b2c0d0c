"""Deployments whose agents have a choice: records that nothing shown tells apart, events, formulas of all
kinds."""

from __future__ import annotations

from hypothesis import strategies as some

import stead_sym as st
from generated.formulas import Signature, sentences

TEXT = """
deployment alike
sort a
relation P(a)
relation Q(a)
relation Mark(a)
relation Flag()
bound a {bound}
init {init}
view P(x) where true
view Q(x) where {shown}
view Flag() where true
tool first(x: a)
  guard P(x)
{first}
tool second(x: a)
  guard {second_guard}
{second}
tool stay()
  guard {stay}
{event}
{fair}
policy by_turns
  call second(x) when Flag()
  call first(x)
  call second(x)
  call stay()
policy patient
  call stay() when Flag() | Q(_)
  call first(x) when ~Q(x)
  call second(x)
  call first(x)
  call stay()
{specs}
"""
EFFECTS = (
    "  effect delete P(x)",
    "  effect insert Q(x)",
    "  effect delete Flag()",
    "  effect insert Flag()\n  effect delete P(x)",
    "  effect when Mark(x)\n    delete P(x)\n  effect when ~Mark(x)\n    insert Q(x)",
    "  effect when Mark(x)\n    insert Flag()\n  effect\n    delete P(x)\n    insert Q(x)",
)
EVENTS = (
    "",
    "event tick()\n  effect insert Flag()",
    "event drop()\n  guard Flag()\n  effect delete Flag()",
    "event take(x: a)\n  guard Q(x)\n  effect delete Q(x)",
    "event come()\n  guard ~P(_) & ~Q(_)\n  effect\n    fresh z: a\n    insert P(z)",
)
SIGNATURE = Signature({"P": ("a",), "Q": ("a",), "Mark": ("a",), "Flag": ()}, {"a": ("c", "d")}, ("x", "y"))
FIRST_ORDER = ("P(c)", "Q(c) & ~Q(d)", "Flag()", "exists x. (P(x) & Mark(x))", "~P(_)", "atleast 2 x. Q(x)")
ONE_OPERATOR = ("EX ({0})", "EF ({0})", "EG ({0})", "E[({0}) U ({1})]", "AF ({0})", "A[({0}) W ({1})]")


@some.composite
def deployments(draw: some.DrawFn) -> st.Deployment:
    """Two or three records that nothing shown tells apart at first, of which some are marked."""
    records = ("c", "d", "e")[: draw(some.integers(2, 3))]
    marked = draw(some.sampled_from([(), records[:1], records[:2]]))
    simple = some.builds(
        str.format,
        some.sampled_from(ONE_OPERATOR),
        some.sampled_from(FIRST_ORDER),
        some.sampled_from(FIRST_ORDER),
    )
    specs = [
        *draw(some.lists(simple, min_size=2, max_size=2)),
        *(str(draw(sentences(SIGNATURE))) for _ in range(3)),
    ]
    return st.parse_deployment(
        TEXT.format(
            bound=len(records),
            init=" ".join([*(f"P({one})" for one in records), *(f"Mark({one})" for one in marked)]),
            shown=draw(some.sampled_from(["true", "Mark(x)", "false"])),
            first=draw(some.sampled_from(EFFECTS)),
            second=draw(some.sampled_from(EFFECTS)),
            second_guard=draw(some.sampled_from(["P(x)", "Q(x)", "P(x) & Flag()"])),
            stay=draw(some.sampled_from(["true", "~P(_)", "~P(_) | Flag()"])),
            event=draw(some.sampled_from(EVENTS)),
            fair=draw(some.sampled_from(["", "", "", "fair Flag()", "fair ~P(_)"])),
            specs="\n".join(f"spec s{i} {text}" for i, text in enumerate(specs)),
        )
    )
