"""Claims of few facts on all runs from the end of one: constants are those of the file.

The part of the data in which a run is found lacks the clerk, who leads a run on in the whole.
"""

import pytest
from hypothesis import event, given, reject
from hypothesis import strategies as hs

from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.verification.verify import verify

DESK = """
deployment desk
sort ticket, clerk
sort state = {{ open, stuck, done }} rigid
relation State(ticket key, state)
relation Janitor(clerk)
relation Off()
init
  Janitor(jo){init}
bound ticket 1
{moves}
tool wait()
{specs}
"""

CREATED = """event create({clerk})
  guard ~State(_, _){guard}
  effect
    {how}
    clear Off
    insert State(t, open)
"""
MOVED = """{kind} move{number}(t: ticket{clerk})
  guard State(t, {start}){guard}
  effect
    {what}
"""
BY_JANITOR = " & Janitor(c)"

STATES = ("open", "stuck", "done")


def words(text):
    """Return the verdict on each specification on few facts, and that of the explicit engine."""
    deployment = parse_deployment(text)
    try:
        explored = verify(deployment, "any", engine="explicit", findings=False, max_states=400)
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    if explored.explored is None:  # a claim of the file is broken
        reject()
    few = localise(deployment, "any", [spec.name for spec in deployment.specs]).verdicts
    return {name: (verdict.word, explored.verdicts[name].word) for name, verdict in few.items()}


COMING = """deployment coming
sort ticket, clerk
sort state = { open, stuck, done } rigid
relation State(ticket key, state)
relation Janitor(clerk)
init
  Janitor(jo)
bound ticket 1
event write_in()
  guard ~State(_, _)
  effect
    fresh t: ticket
    insert State(t, open)
tool jam(t: ticket)
  guard State(t, open)
  effect
    set State(t, stuck)
tool finish(t: ticket)
  guard State(t, open)
  effect
    set State(t, done)
event sweep(t: ticket, c: clerk)
  guard State(t, stuck) & Janitor(c)
  effect
    delete State(t, _)
tool wait()
spec a AG forall t. (State(t, stuck) -> EF State(t, done))
"""
CHOSEN = """deployment chosen
sort ticket, clerk
relation Todo(ticket)
relation Lost()
relation Janitor(clerk)
init
  Todo(t1)
  Janitor(jo)
tool lose()
  guard Todo(t1)
  effect
    clear Todo
    insert Lost()
event find(c: clerk)
  guard Lost() & Janitor(c)
  effect
    choose t: ticket where ~Todo(t)
    clear Lost
    insert Todo(t)
tool wait()
spec a AG EF Todo(t1)
spec b AG (Lost() -> EF Todo(t1))
"""
GONE = """deployment gone
sort ticket, clerk
relation Open(ticket)
relation Janitor(clerk)
relation Off()
init
  Janitor(jo)
bound ticket 1
event first()
  guard ~Open(_) & ~Off()
  effect
    fresh t: ticket
    insert Open(t)
event again(c: clerk)
  guard ~Open(_) & Off() & Janitor(c)
  effect
    fresh t: ticket
    insert Open(t)
    clear Off
tool drop(t: ticket)
  guard Open(t)
  effect
    delete Open(t)
    insert Off()
tool wait()
spec a AG forall t. (Open(t) -> AX (Open(t) | EF Open(t)))
spec b AG forall t. (Open(t) -> AX EF Open(t))
spec c AG forall t. (Open(t) -> AX (Open(t) | ~AG ~Open(t)))
"""


@pytest.mark.parametrize("text", [COMING, CHOSEN, GONE], ids=["comes again", "is chosen again", "is gone"])
def test_a_value_may_come_back_after_a_run(text):
    """Neither is a fresh value a constant once a fact has it, nor is one that no fact has any more none."""
    for found, right in words(text).values():
        assert right == "holds"
        assert found in ("unknown", right)


def written(how, guard, init, moves, specs):
    texts = [CREATED.format(how=how, guard=guard, clerk="c: clerk" if guard else "")]
    for number, (kind, start, what, by) in enumerate(moves):
        clerk = ", c: clerk" if by else ""
        texts.append(MOVED.format(kind=kind, number=number, start=start, guard=by, what=what, clerk=clerk))
    lines = [f"spec s{number} {spec}" for number, spec in enumerate(specs)]
    return DESK.format(init=init, moves="".join(texts), specs="\n".join(lines))


@hs.composite
def desks(draw):
    """Draw a desk with one ticket at a time, which comes, changes and goes, with the clerk or without."""
    by = hs.sampled_from(("", BY_JANITOR))
    ends = hs.sampled_from(("delete State(t, _)", "delete State(t, _)\n    insert Off()"))
    sets = hs.sampled_from(STATES).map("set State(t, {})".format)
    move = hs.tuples(hs.sampled_from(("tool", "event")), hs.sampled_from(STATES), sets | ends, by)
    how = hs.sampled_from(("fresh t: ticket", "choose t: ticket where ~State(t, _)"))
    guard = draw(by)
    moves = draw(hs.lists(move, min_size=1, max_size=4))
    init = draw(hs.sampled_from(("", " State(t1, open)", " State(t1, done)")))
    one, other = draw(hs.permutations(STATES))[:2]
    specs = [
        f"AG forall t. (State(t, {one}) -> EF State(t, {other}))",
        f"AG forall t. (State(t, {one}) -> AX (State(t, {one}) | EF State(t, {one})))",
        f"AG forall t. (State(t, {one}) -> EX EF State(t, {other}))",
        f"AG EF exists t. State(t, {other})",
        f"AG forall t. (State(t, {one}) -> ~AG ~State(t, {other}))",
    ]
    return written(draw(how), guard, init, moves, specs)


@given(desks())
def test_nothing_wrong_is_said_of_all_runs_after_one(text):
    for name, (found, right) in words(text).items():
        event(f"{found}, {right}")
        assert found in ("unknown", right), name
