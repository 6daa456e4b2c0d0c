"""A warehouse: stock of items at places, orders with lines, one order in the hands of an agent at a time.

One decision: the deployment is text, as a user would write it; `gate` is a line of a tool in it that only the
gated version has, as a further part of its guard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from written import one_of, written

_SEED = 20261123
_PLACES = {1: 72, 2: 22, 3: 6}  # of an item, with their shares in percent
_LINES = {1: 58, 2: 24, 3: 12, 5: 6}  # of an order
_QUANTITY = {1: 70, 2: 20, 3: 10}
_LEVELS = {0: 12, 1: 10, 2: 14, 3: 18, 4: 12, 5: 10, 6: 8, 7: 6, 8: 5, 9: 5}
_ZONES = {"ambient": 75, "chilled": 18, "hazardous": 7}

TEXT = """
sort item, place, order, customer, supplier
sort amount = 0..9
sort zone   = { ambient, chilled, hazardous } rigid
sort stage  = { open, in_work, shipped, cancelled } rigid

relation Stock(item key, place key, amount)
relation Zone(place key, zone)
relation Needs(item key, zone)
relation Minimum(item key, amount)
relation From(item key, supplier)
relation Ordered(item)                       # at its supplier
relation Damaged(item, place)                # reported, not yet seen to
relation Blocked(place)                      # an inspection
relation Customer(order key, customer)
relation Trusted(customer)
relation Rush(order)
relation Stage(order key, stage)
relation Line(order key, item key, amount)   # what the customer wants
relation Missing(order key, item key, amount)  # of that, what is not reserved
relation Held(order, item, place)            # pieces are reserved there
relation Picked(order, item)
relation InHand(order)
relation Reported(item, place)               # the damage the agent is told of

define idle = ~InHand(_) & ~Reported(_, _)
define wanted(i: item) = exists o. (InHand(o) & Line(o, i, _)) | Reported(i, _)
define low(i: item) = exists m. (Minimum(i, m) & forall p, a. (Stock(i, p, a) -> a <= m))
define complete(o: order) = forall i, a. (Missing(o, i, a) -> a = 0)
define picked(o: order) = forall i. (Line(o, i, _) -> Picked(o, i))

event release(o: order) "An order is due."
  guard idle & Stage(o, open)
  effect
    insert InHand(o)
    set Stage(o, in_work)

event order_again(o: order) "A standing order: the same things once more."
  guard Stage(o, shipped) | Stage(o, cancelled)
  effect
    set Stage(o, open)
    set Missing(o, i, a) for i, a where Line(o, i, a)

event pick(o: order, i: item) "A picker takes all that is reserved for a line."
  guard Missing(o, i, 0) & Held(o, i, _) & ~Picked(o, i)
  effect
    insert Picked(o, i)
    delete Held(o, i, _)

event find_broken(o: order, i: item, p: place) "The picker finds one piece broken."
  guard Missing(o, i, 0) & Held(o, i, p) & ~Picked(o, i)
  effect
    set Missing(o, i, 1)
    insert Damaged(i, p)

event drop(i: item, p: place) "Something breaks on the shelf."
  guard Stock(i, p, _) & ~Stock(i, p, 0) & ~Damaged(i, p)
  effect
    insert Damaged(i, p)

event report(i: item, p: place)
  guard idle & Damaged(i, p)
  effect
    insert Reported(i, p)

event delivery(s: supplier) "What is on order from a supplier comes, and fills its places."
  guard exists i. (From(i, s) & Ordered(i))
  effect
    set Stock(i, p, 9) for i, p where From(i, s) & Ordered(i) & Stock(i, p, _) & ~Blocked(p)
    delete Ordered(i) for i where From(i, s)

event inspect(p: place)
  guard Zone(p, hazardous) & ~Blocked(p)
  effect
    insert Blocked(p)

event open_again(p: place)
  guard Blocked(p)
  effect
    delete Blocked(p)

tool reserve(o: order, i: item, p: place) "Reserve one piece for the order in hand."
  guard InHand(o) & (exists a. (Missing(o, i, a) & a > 0)) & (exists a. (Stock(i, p, a) & a > 0))
  gate ~Blocked(p) & ~Damaged(i, p)
  effect
    choose a: amount where exists b. (Stock(i, p, b) & succ(a, b))
    choose m: amount where exists k. (Missing(o, i, k) & succ(m, k))
    set Stock(i, p, a)
    set Missing(o, i, m)
    insert Held(o, i, p)

tool reorder(i: item) "Order an item from its supplier."
  guard wanted(i) & ~Ordered(i)
  gate low(i)
  effect
    insert Ordered(i)

tool quarantine(i: item, p: place) "Take what is there of a damaged item out of stock."
  guard Reported(i, p) & Stock(i, p, _)
  gate ~Held(_, i, p)
  effect
    set Stock(i, p, 0)
    delete Damaged(i, p)
    delete Reported(i, p)

tool leave() "See to the damage later."
  guard Reported(_, _)
  effect
    clear Reported

tool ship(o: order)
  guard InHand(o)
  gate complete(o) & picked(o)
  effect
    set Stage(o, shipped)
    delete Missing(o, _, _)
    delete Held(o, _, _)
    delete Picked(o, _)
    delete InHand(o)

tool postpone(o: order) "Put the order back; what is reserved stays so."
  guard InHand(o)
  gate ~(complete(o) & picked(o))
  effect
    set Stage(o, open)
    delete InHand(o)

tool cancel(o: order)
  guard InHand(o)
  gate ~Rush(o) & ~Held(o, _, _) & ~Picked(o, _)
  effect
    set Stage(o, cancelled)
    delete Missing(o, _, _)
    delete Held(o, _, _)
    delete Picked(o, _)
    delete InHand(o)

view InHand(o)
view Reported(i, p)
view Rush(o)          where InHand(o)
view Line(o, i, a)    where InHand(o)
view Missing(o, i, a) where InHand(o)
view Held(o, i, p)    where InHand(o) | Reported(i, p)
view Picked(o, i)     where InHand(o)
view Stock(i, p, a)   where wanted(i)
view Minimum(i, a)    where wanted(i)
view Ordered(i)       where wanted(i)
view Damaged(i, p)    where wanted(i)
view Blocked(p)       where exists i. (wanted(i) & Stock(i, p, _))

policy rules
  call quarantine(i, p) when ~Held(_, i, p)
  call leave()
  call ship(o)          when complete(o) & picked(o)
  call reserve(o, i, p) when ~Blocked(p) & ~Damaged(i, p)
  call reorder(i)       when low(i)
  call postpone(o)

fair event delivery
fair strong event release

spec one_in_hand    AG atmost 1 o. InHand(o)
spec one_level      AG forall i, p. (Stock(i, p, _) -> AX Stock(i, p, _))
spec complete_only  AG forall o, i. (InHand(o) & Line(o, i, _) & ~Picked(o, i) -> AX ~Stage(o, shipped))
spec rush_is_kept   AG forall o. (Rush(o) & Stage(o, open) -> A[~Stage(o, cancelled) W Stage(o, shipped)])
spec none_damaged   AG forall i, p, o. (Damaged(i, p) & ~Held(o, i, p) -> AX ~(Held(o, i, p) & Damaged(i, p)))
spec held_is_wanted AG forall o, i, p. (Held(o, i, p) -> Line(o, i, _) & (Stage(o, open) | Stage(o, in_work)))
spec not_too_much   AG forall i. (Ordered(i) -> low(i))
spec put_down       AG forall o. (InHand(o) -> AF ~InHand(o))
spec comes_in       AG forall i. (Ordered(i) -> AF ~Ordered(i))
spec can_ship       AG forall o. (Stage(o, open) -> EF Stage(o, shipped))
spec sold_out       EF exists i. (Line(_, i, _) & forall p, a. (Stock(i, p, a) -> a = 0))
spec all_shipped    AG forall o. (Stage(o, open) -> AF Stage(o, shipped))
"""


def warehouse(n: int, *, gated: bool = False, seed: int = _SEED) -> str:
    """The file with ``n`` items, and half as many orders, one of them in hand at a time."""
    return written(f"warehouse{n}", TEXT, _facts(n, random.Random(seed)), gated)


def _facts(n: int, draw: random.Random) -> Iterator[str]:
    places = {zone: [f"{zone}{k}" for k in range(max(1, n * share // 50))] for zone, share in _ZONES.items()}
    for zone, own in places.items():
        for place in own:
            yield f"Zone({place}, {zone})"
    for item in (f"i{k}" for k in range(n)):
        zone = one_of(draw, _ZONES)
        yield f"Needs({item}, {zone})"
        yield f"Minimum({item}, {draw.randint(0, 3)})"
        yield f"From({item}, s{int(draw.paretovariate(1.2)) % max(2, n // 10)})"  # a few have most items
        for place in draw.sample(places[zone], min(one_of(draw, _PLACES), len(places[zone]))):
            yield f"Stock({item}, {place}, {one_of(draw, _LEVELS)})"
            if draw.random() < 0.02:
                yield f"Damaged({item}, {place})"
    for number in range(max(2, n // 2)):
        order = f"o{number}"
        customer = f"c{int(draw.paretovariate(1.0)) % max(2, n // 3)}"
        yield f"Customer({order}, {customer})"
        if draw.random() < 0.5:
            yield f"Trusted({customer})"
        if number == 0 or draw.random() < 0.15:
            yield f"Rush({order})"
        stage = "open" if draw.random() < 0.7 else "shipped"
        yield f"Stage({order}, {stage})"
        for item in draw.sample(range(n), min(one_of(draw, _LINES), n)):
            quantity = one_of(draw, _QUANTITY)
            yield f"Line({order}, i{item}, {quantity})"
            if stage == "open":
                yield f"Missing({order}, i{item}, {quantity})"
