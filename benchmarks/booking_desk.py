"""A booking desk of an airline: reservations, passengers, legs, bags; customers call, an agent answers.

One decision: the deployment is text, as a user would write it; `gate` is a line of a tool in it that only the
gated version has, as a further guard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from written import one_of, written

_SEED = 20261123
_PARTY = {1: 55, 2: 25, 3: 10, 4: 7, 5: 3}  # passengers of a reservation, with their shares in percent
_LEGS = {1: 46, 2: 38, 3: 9, 4: 7}
_WALLET = {1: 45, 2: 35, 3: 20}
_RESERVATIONS = {1: 62, 2: 22, 3: 10, 5: 6}  # of a user
_CABINS = {"basic": 30, "economy": 58, "business": 12}
_TIERS = {"regular": 70, "silver": 20, "gold": 10}
_MEANS = {"credit_card": 65, "gift_card": 20, "certificate": 15}
_FLIGHTS = {"scheduled": 70, "late": 12, "scrapped": 6, "departed": 12}
_BOOKED = {"confirmed": 88, "cancelled": 12}
_BAGS = {0: 35, 1: 30, 2: 18, 3: 9, 4: 5, 6: 2, 9: 1}
_ALLOWANCE = {"regular": (0, 1, 2), "silver": (1, 2, 3), "gold": (2, 3, 4)}

TEXT = """
sort reservation, passenger, user, flight, method, airport
sort cabin   = { basic < economy < business }
sort tier    = { regular < silver < gold }
sort means   = { credit_card, gift_card, certificate } rigid
sort booked  = { confirmed, cancelled } rigid
sort running = { scheduled, late, scrapped, departed } rigid
sort wish    = { cancel, change, bags, compensation } rigid
sort reason  = { change_of_plan, airline, illness } rigid
sort number  = 0..14

# the database
relation Holder(reservation key, user)
relation Tier(user key, tier)
relation Wallet(user, method)
relation Means(method key, means)
relation PaidWith(reservation key, method)
relation Travels(reservation, passenger)
relation Minor(passenger)
relation Cabin(reservation key, cabin)
relation Insured(reservation)
relation BookedToday(reservation)
relation Booked(reservation key, booked)
relation Leg(reservation, flight)
relation Bags(reservation key, number)
relation Flight(flight key, running)
relation Route(flight key, airport, airport)
relation Free(flight, cabin)                 # there are seats left
relation Allowance(tier key, cabin key, number)
relation CheckedIn(reservation, flight)
relation Refunded(reservation, method)
relation Charged(reservation, method)        # for bags
relation Compensated(reservation)

# the call in hand
relation Asked(reservation, wish)
relation Why(reason)
relation WantsFlight(flight, flight)         # instead of one, another
relation WantsBags(number)
relation Identified(user)
relation Told(reservation)                   # what it costs and that it is final
relation Agreed(reservation)
relation Declined(reservation)

define in_hand(r: reservation) = Asked(r, _)
define known(r: reservation) = exists u. (Holder(r, u) & Identified(u))
define wallet(r: reservation, m: method) = exists u. (Holder(r, u) & Wallet(u, m))
define started(r: reservation) = exists f. (Leg(r, f) & Flight(f, departed))
define disturbed(r: reservation) = exists f. (Leg(r, f) & (Flight(f, late) | Flight(f, scrapped)))
define may_cancel(r: reservation) =
  ~started(r) & (BookedToday(r) | Cabin(r, business) | (Insured(r) & Why(illness))
                 | exists f. (Leg(r, f) & Flight(f, scrapped)))
define may_fly(r: reservation, g: flight) =
  (Flight(g, scheduled) | Flight(g, late)) & exists c. (Cabin(r, c) & Free(g, c))
define deserves(r: reservation) =
  disturbed(r) & (Insured(r) | Cabin(r, business) | exists u, t. (Holder(r, u) & Tier(u, t) & t >= silver))
define within(r: reservation, b: number) =
  exists u, t, c, a. (Holder(r, u) & Tier(u, t) & Cabin(r, c) & Allowance(t, c, a) & b <= a)
define same_route(f: flight, g: flight) = exists a, b. (Route(f, a, b) & Route(g, a, b))
define gone(r: reservation) = Asked(r, cancel) & Booked(r, cancelled)
define on_time(r: reservation) = BookedToday(r) & ~started(r)
define quiet = ~Asked(_, _)

# customers
event call_to_cancel(r: reservation, w: reason) "A customer wants to cancel."
  guard quiet & Booked(r, _)
  effect
    insert Asked(r, cancel)
    insert Why(w)

event call_to_change(r: reservation, f: flight, g: flight) "Another flight on the same route."
  guard quiet & Leg(r, f) & same_route(f, g) & f != g & ~Leg(r, g)
  effect
    insert Asked(r, change)
    insert WantsFlight(f, g)

event call_for_bags(r: reservation, b: number) "A customer wants so many bags in all."
  guard quiet & exists a. (Bags(r, a) & b > a)
  effect
    insert Asked(r, bags)
    insert WantsBags(b)

event call_to_complain(r: reservation)
  guard quiet & disturbed(r)
  effect
    insert Asked(r, compensation)

event agree(r: reservation)
  guard Told(r) & ~Agreed(r) & ~Declined(r)
  effect
    insert Agreed(r)

event decline(r: reservation)
  guard Told(r) & ~Agreed(r) & ~Declined(r)
  effect
    insert Declined(r)

event hang_up(r: reservation)
  guard Told(r) & ~Agreed(r) & ~Declined(r)
  effect
    clear Asked, Why, WantsFlight, WantsBags, Identified, Told, Agreed, Declined

event check_in(r: reservation, f: flight)
  guard Leg(r, f) & Booked(r, confirmed) & (Flight(f, scheduled) | Flight(f, late)) & ~CheckedIn(r, f)
  effect
    insert CheckedIn(r, f)

# the airline
event delay(f: flight)
  guard Flight(f, scheduled)
  effect
    set Flight(f, late)

event scrap(f: flight) "The airline cancels a flight."
  guard Flight(f, scheduled) | Flight(f, late)
  effect
    set Flight(f, scrapped)
    delete CheckedIn(_, f)

event depart(f: flight)
  guard Flight(f, scheduled) | Flight(f, late)
  effect
    set Flight(f, departed)
    delete Free(f, _)

event sell_out(f: flight, c: cabin)
  guard Free(f, c)
  effect
    delete Free(f, c)

# what the agent can do
tool identify(u: user) "Ask the holder for name and code."
  guard exists r. (in_hand(r) & Holder(r, u) & ~Identified(u))
  effect
    insert Identified(u)

tool tell(r: reservation) "Say what it costs, and ask whether to go on."
  guard in_hand(r) & ~Told(r)
  gate known(r)
  effect
    insert Told(r)

tool hold(r: reservation) "Wait for the customer's answer."
  guard Told(r) & ~Agreed(r) & ~Declined(r)

tool cancel(r: reservation)
  guard Asked(r, cancel) & Booked(r, confirmed)
  gate known(r) & Agreed(r) & may_cancel(r)
  effect
    set Booked(r, cancelled)
    delete CheckedIn(r, _)

tool refund(r: reservation, m: method) "Pay back a cancelled reservation."
  guard Asked(r, cancel) & Booked(r, cancelled) & wallet(r, m)
  gate PaidWith(r, m) & ~Refunded(r, _)
  effect
    insert Refunded(r, m)

tool change_flight(r: reservation, f: flight, g: flight)
  guard Asked(r, change) & WantsFlight(f, g) & Leg(r, f) & Booked(r, confirmed)
  gate known(r) & Agreed(r) & ~Cabin(r, basic) & ~Flight(f, departed) & may_fly(r, g)
  effect
    delete Leg(r, f)
    insert Leg(r, g)
    delete CheckedIn(r, f)

tool add_bags(r: reservation, b: number, m: method) "Add bags; what is beyond the allowance is charged."
  guard Asked(r, bags) & WantsBags(b) & ~Bags(r, b) & Booked(r, confirmed) & wallet(r, m)
  gate known(r) & Agreed(r) & ~started(r) & ~Means(m, certificate)
  effect when within(r, b)
    set Bags(r, b)
  effect when ~within(r, b)
    set Bags(r, b)
    insert Charged(r, m)

tool compensate(r: reservation)
  guard Asked(r, compensation) & ~Compensated(r)
  gate known(r) & deserves(r)
  effect
    insert Compensated(r)

tool finish() "Say goodbye."
  guard ~quiet
  gate ~exists r. (Asked(r, cancel) & Agreed(r) & Booked(r, cancelled) & ~Refunded(r, _))
  effect
    clear Asked, Why, WantsFlight, WantsBags, Identified, Told, Agreed, Declined

# the agent sees the call, and what belongs to the reservation
view Asked(r, k)
view Why(w)
view WantsFlight(f, g)
view WantsBags(b)
view Identified(u)
view Told(r)
view Agreed(r)
view Declined(r)
view Holder(r, u)    where in_hand(r)
view Tier(u, t)      where exists r. (in_hand(r) & Holder(r, u))
view Means(m, k)     where exists r. (in_hand(r) & wallet(r, m))
view PaidWith(r, m)  where in_hand(r)
view Travels(r, p)   where in_hand(r)
view Cabin(r, c)     where in_hand(r)
view Insured(r)      where in_hand(r)
view BookedToday(r)  where in_hand(r)
view Booked(r, s)    where in_hand(r)
view Leg(r, f)       where in_hand(r)
view Bags(r, b)      where in_hand(r)
view Flight(f, s)    where WantsFlight(_, f) | exists r. (in_hand(r) & Leg(r, f))
view Free(f, c)      where WantsFlight(_, f)
view Refunded(r, m)  where in_hand(r)
view Compensated(r)  where in_hand(r)

policy rules
  call identify(u)
  call refund(r, m)           when PaidWith(r, m) & ~Refunded(r, _)
  call finish()               when exists r. (Declined(r) | Compensated(r) | gone(r))
  call tell(r)                when Asked(r, cancel) & Booked(r, confirmed) & may_cancel(r)
  call tell(r)                when Asked(r, change) & Booked(r, confirmed) & ~Cabin(r, basic)
                                   & exists f, g. (WantsFlight(f, g) & Leg(r, f) & ~Flight(f, departed)
                                                   & may_fly(r, g))
  call tell(r)                when Asked(r, bags) & Booked(r, confirmed) & ~started(r)
                                   & exists b. (WantsBags(b) & ~Bags(r, b))
  call hold(r)
  call cancel(r)              when Agreed(r) & may_cancel(r)
  call change_flight(r, f, g) when Agreed(r) & ~Flight(f, departed) & may_fly(r, g)
  call add_bags(r, b, m)      when Agreed(r) & ~started(r) & Means(m, credit_card)
  call compensate(r)          when deserves(r)
  call finish()

fair event agree

spec one_call      AG forall r, s, k, l. (Asked(r, k) & Asked(s, l) -> r = s & k = l)
spec known_first   AG forall r. (Booked(r, confirmed) -> A[~Booked(r, cancelled) W known(r)])
spec asked_first   AG forall r, f. (Leg(r, f) -> A[Leg(r, f) W Agreed(r)])
spec money_back    AG forall r, m. (Refunded(r, m) -> PaidWith(r, m))
spec one_refund    AG forall r. atmost 1 m. Refunded(r, m)
spec not_after     AG forall r. (Booked(r, confirmed) & started(r) -> AX Booked(r, confirmed))
spec basic_stays   AG forall r, f. (Cabin(r, basic) & Leg(r, f) -> AX Leg(r, f))
spec no_vouchers   AG forall r, m. (Charged(r, m) -> ~Means(m, certificate))
spec more_bags     AG forall r, a. (Bags(r, a) -> AX forall b. (Bags(r, b) -> b >= a))
spec answered      AG forall r. (in_hand(r) -> AF ~in_hand(r))
spec can_cancel    AG forall r. (Asked(r, cancel) & on_time(r) & Booked(r, confirmed)
                                -> EF Booked(r, cancelled))
spec refund_comes  AG forall r. (gone(r) -> A[in_hand(r) U Refunded(r, _)])
"""


def booking_desk(n: int, *, gated: bool = False, seed: int = _SEED) -> str:
    """The file with ``n`` reservations, one call in hand at a time."""
    return written(f"booking_desk{n}", TEXT, _facts(n, random.Random(seed)), gated)


def _facts(n: int, draw: random.Random) -> Iterator[str]:
    for tier, numbers in _ALLOWANCE.items():
        for cabin, number in zip(_CABINS, numbers, strict=True):
            yield f"Allowance({tier}, {cabin}, {number})"
    flights = [f"f{k}" for k in range(max(4, n * 3 // 5))]
    routes = max(2, len(flights) // 4)  # some four flights on a route
    ports = max(3, round(routes**0.5) + 1)
    for k, flight in enumerate(flights):
        start, way = (k % routes) % ports, 1 + (k % routes) // ports % (ports - 1)
        yield f"Route({flight}, a{start}, a{(start + way) % ports})"
        status = one_of(draw, _FLIGHTS)
        yield f"Flight({flight}, {status})"
        for cabin in _CABINS:
            if status in ("scheduled", "late") and draw.random() < 0.7:
                yield f"Free({flight}, {cabin})"
    made = 0
    user = 0
    while made < n:
        name = f"u{user}"
        yield f"Tier({name}, {one_of(draw, _TIERS)})"
        wallet = [f"m{user}_{k}" for k in range(one_of(draw, _WALLET))]
        for method in wallet:
            yield f"Wallet({name}, {method})"
            yield f"Means({method}, {one_of(draw, _MEANS)})"
        family = [f"p{user}_{k}" for k in range(5)]
        for _ in range(min(one_of(draw, _RESERVATIONS), n - made)):
            reservation = f"r{made}"
            booked, paid = one_of(draw, _BOOKED), draw.choice(wallet)
            yield f"Holder({reservation}, {name})"
            yield f"Booked({reservation}, {booked})"
            yield f"PaidWith({reservation}, {paid})"
            yield f"Cabin({reservation}, {one_of(draw, _CABINS)})"
            yield f"Bags({reservation}, {one_of(draw, _BAGS)})"
            for passenger in family[: one_of(draw, _PARTY)]:  # the first of a family travels on all
                yield f"Travels({reservation}, {passenger})"
                if passenger[-1] in "34":
                    yield f"Minor({passenger})"
            for flight in draw.sample(flights, min(one_of(draw, _LEGS), len(flights))):
                yield f"Leg({reservation}, {flight})"
            if draw.random() < 0.25:
                yield f"Insured({reservation})"
            if draw.random() < 0.08:
                yield f"BookedToday({reservation})"
            if booked == "cancelled":
                yield f"Refunded({reservation}, {paid})"
            made += 1
        user += 1
