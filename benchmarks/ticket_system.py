"""A ticket system: services of teams, people on call, a dispatcher and an engineer with a ticket each.

One decision: the deployment is text, as a user would write it; `gate` is a line of a tool in it that only the
gated version has, as a further part of its guard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from written import one_of, written

_SEED = 20261123
_STATES = {"closed": 64, "solved": 14, "assigned": 14, "waiting": 8}
_PRIORITIES = {"low": 30, "normal": 48, "high": 17, "urgent": 5}
_TEAM = {2: 35, 3: 35, 4: 20, 6: 10}  # people of a team, with their shares in percent
_SERVICES = {1: 40, 2: 30, 3: 20, 6: 10}  # of a team

TEXT = """
sort ticket, person, team, service, customer
sort priority = { low < normal < high < urgent }
sort level    = 0..3
sort state    = { fresh_in, assigned, waiting, solved, closed } rigid
sort plan     = { basic, business, premium } rigid

relation State(ticket key, state)
relation Priority(ticket key, priority)
relation Level(ticket key, level)              # of escalation
relation About(ticket key, service)
relation Reporter(ticket key, customer)
relation Queue(ticket key, team)
relation Assignee(ticket key, person)
relation Today(ticket)                         # came in today
relation OnDesk(ticket)                        # in the dispatcher's hands
relation InWork(ticket)                        # in the engineer's hands
relation Answered(ticket)                      # since it was last opened
relation Late(ticket)
relation Paged(ticket, person)
relation Owner(service key, team)
relation Critical(service)
relation Down(service)
relation Member(person, team)
relation Lead(team key, person)
relation OnCall(team key, person)
relation Plan(customer key, plan)

bound ticket 1

define owned(t: ticket, g: team) = exists s. (About(t, s) & Owner(s, g))
define serious(t: ticket) =
  (exists s. (About(t, s) & Critical(s) & Down(s))) | exists c. (Reporter(t, c) & Plan(c, premium))
define on_call(t: ticket, p: person) = exists g. (Queue(t, g) & owned(t, g) & OnCall(g, p))
define on_duty(t: ticket, p: person) = exists g. (Queue(t, g) & OnCall(g, p))
define lead(t: ticket, p: person) = exists g. (Queue(t, g) & Lead(g, p))
define is_open(t: ticket) = State(t, fresh_in) | State(t, assigned) | State(t, waiting)
define handled(t: ticket) = State(t, solved) | State(t, closed)

event report(c: customer, s: service) "A customer writes."
  guard ~OnDesk(_) & ~Today(_) & Plan(c, _) & Owner(s, _)
  effect
    fresh t: ticket
    insert State(t, fresh_in)
    insert Priority(t, normal)
    insert Level(t, 0)
    insert About(t, s)
    insert Reporter(t, c)
    insert Today(t)
    insert OnDesk(t)

event reopen(t: ticket) "The customer is not content."
  guard ~OnDesk(_) & State(t, solved) & ~InWork(t)
  effect
    set State(t, fresh_in)
    delete Answered(t)
    delete Queue(t, _)
    delete Assignee(t, _)
    insert OnDesk(t)

event reply(t: ticket) "The customer answers a question."
  guard State(t, waiting) & ~InWork(t)
  effect
    set State(t, assigned)

event pull(t: ticket) "The engineer gets the next ticket."
  guard ~InWork(_) & State(t, assigned)
  effect
    insert InWork(t)

event hour(t: ticket) "Nothing has been heard for an hour."
  guard (OnDesk(t) | InWork(t)) & ~Answered(t) & ~Late(t)
  effect
    insert Late(t)

event outage(s: service)
  guard Owner(s, _) & ~Down(s)
  effect
    insert Down(s)
    set Priority(t, urgent) for t where About(t, s) & Critical(s) & is_open(t)

event repaired(s: service)
  guard Down(s)
  effect
    delete Down(s)

event shift(g: team, p: person, q: person)
  guard OnCall(g, p) & Member(q, g) & p != q
  effect
    set OnCall(g, q)

event night() "What was solved is closed; what came in today is filed away if it is closed."
  guard ~OnDesk(_) & ~InWork(_) & State(_, solved)
  effect
    set State(t, closed) for t where State(t, solved)
    delete Paged(t, p) for t, p where State(t, solved)
    delete Late(t) for t where State(t, solved)

event file(t: ticket)
  guard Today(t) & State(t, closed)
  effect
    delete State(t, _)
    delete Priority(t, _)
    delete Level(t, _)
    delete About(t, _)
    delete Reporter(t, _)
    delete Queue(t, _)
    delete Assignee(t, _)
    delete Today(t)
    delete Answered(t)
    delete Late(t)
    delete Paged(t, _)

tool answer(t: ticket) "Tell the customer that somebody is on it."
  guard (OnDesk(t) | InWork(t)) & ~Answered(t)
  effect
    insert Answered(t)

tool rank(t: ticket, p: priority)
  guard OnDesk(t) & ~Priority(t, p)
  gate (serious(t) -> p >= high) & (p = urgent -> serious(t))
  effect
    set Priority(t, p)

tool route(t: ticket, g: team)
  guard OnDesk(t) & ~Queue(t, g) & Lead(g, _)
  gate owned(t, g)
  effect
    set Queue(t, g)
    delete Assignee(t, _)

tool assign(t: ticket, p: person) "Give the ticket to somebody of the team."
  guard OnDesk(t) & exists g. (Queue(t, g) & Member(p, g))
  gate Answered(t) & on_call(t, p) & (serious(t) -> ~Priority(t, low) & ~Priority(t, normal))
  effect
    set Assignee(t, p)
    set State(t, assigned)
    delete OnDesk(t)

tool drop(t: ticket) "Close a ticket without doing anything about it."
  guard OnDesk(t)
  gate Priority(t, low) & Answered(t) & ~serious(t)
  effect
    set State(t, closed)
    delete OnDesk(t)

tool escalate(t: ticket, n: level) "One level up."
  guard InWork(t) & exists m. (Level(t, m) & succ(m, n))
  gate Late(t) | Priority(t, urgent)
  effect
    set Level(t, n)

tool page(t: ticket, p: person) "Wake somebody."
  guard InWork(t) & ~Paged(t, p) & (on_duty(t, p) | lead(t, p))
  gate ~Level(t, 0) & (lead(t, p) -> ~Level(t, 1))
  effect
    insert Paged(t, p)

tool ask(t: ticket) "Ask the customer, and take the next ticket."
  guard InWork(t)
  gate Answered(t) & ~Priority(t, urgent)
  effect
    set State(t, waiting)
    delete InWork(t)

tool solve(t: ticket)
  guard InWork(t)
  gate Answered(t) & (Priority(t, urgent) & Late(t) -> Paged(t, _))
  effect
    set State(t, solved)
    delete InWork(t)
    delete Late(t)
  effect
    delete InWork(t)

agent dispatcher
  tools answer, rank, route, assign, drop
  view OnDesk(t)
  view Priority(t, p)   where OnDesk(t)
  view About(t, s)      where OnDesk(t)
  view Owner(s, g)      where exists t. (OnDesk(t) & About(t, s))
  view Critical(s)      where exists t. (OnDesk(t) & About(t, s))
  view Down(s)          where exists t. (OnDesk(t) & About(t, s))
  view Reporter(t, c)   where OnDesk(t)
  view Plan(c, k)       where exists t. (OnDesk(t) & Reporter(t, c))
  view Queue(t, g)      where OnDesk(t)
  view OnCall(g, p)     where exists t. (OnDesk(t) & owned(t, g))
  view Answered(t)      where OnDesk(t)
  policy rules
    call answer(t)
    call rank(t, high)  when serious(t) & (Priority(t, low) | Priority(t, normal))
    call route(t, g)    when owned(t, g)
    call assign(t, p)   when on_call(t, p)

agent engineer
  tools answer, escalate, page, ask, solve
  view InWork(t)
  view Priority(t, p)   where InWork(t)
  view Level(t, n)      where InWork(t)
  view Late(t)          where InWork(t)
  view Answered(t)      where InWork(t)
  view Queue(t, g)      where InWork(t)
  view OnCall(g, p)     where exists t. (InWork(t) & Queue(t, g))
  view Lead(g, p)       where exists t. (InWork(t) & Queue(t, g))
  view Paged(t, p)      where InWork(t)
  policy rules
    call answer(t)
    call escalate(t, n) when Priority(t, urgent) & Late(t) & n = 1
    call page(t, p)     when Priority(t, urgent) & Late(t) & ~Paged(t, _) & on_duty(t, p)
    call solve(t)

fair event pull
fair event hour
fair agent

spec one_on_desk    AG (atmost 1 t. OnDesk(t)) & (atmost 1 t. InWork(t))
spec right_team     AG forall t, g. (Queue(t, g) -> owned(t, g))
spec of_the_team    AG forall t, p, g. (Assignee(t, p) & Queue(t, g) -> Member(p, g))
spec answered_first AG forall t. (State(t, fresh_in) & ~Answered(t) -> A[~handled(t) W Answered(t)])
spec off_the_desk   AG forall t. (OnDesk(t) -> AF ~OnDesk(t))
spec out_of_hands   AG forall t. (InWork(t) -> AF ~InWork(t))
spec leads_sleep    AG forall t, g, p. (Queue(t, g) & Lead(g, p) & Level(t, 0) -> ~Paged(t, p) | OnCall(g, p))
spec only_upwards   AG forall t, m. (Level(t, m) -> AX forall n. (Level(t, n) -> n >= m))
spec few_paged      AG forall t. atmost 2 p. Paged(t, p)
spec serious_first  AG forall t. (OnDesk(t) & serious(t) -> AX (State(t, assigned) -> ~Priority(t, low)))
spec can_be_solved  AG forall t. (is_open(t) -> EF State(t, solved))
spec all_handled    AG forall t. (State(t, fresh_in) -> AF handled(t))
"""


def ticket_system(n: int, *, gated: bool = False, seed: int = _SEED) -> str:
    """The file with ``n`` tickets of earlier days, about the services of some n/4 teams."""
    return written(f"ticket_system{n}", TEXT, _facts(n, random.Random(seed)), gated)


def _facts(n: int, draw: random.Random) -> Iterator[str]:
    owner: dict[str, str] = {}
    people: dict[str, list[str]] = {}
    for team in (f"g{k}" for k in range(max(2, n // 12))):
        people[team] = [f"p{k}_{team}" for k in range(one_of(draw, _TEAM))]
        yield f"Lead({team}, {people[team][0]})"
        yield f"OnCall({team}, {people[team][-1]})"
        for person in people[team]:
            yield f"Member({person}, {team})"
        for service in (f"s{k}_{team}" for k in range(one_of(draw, _SERVICES))):
            owner[service] = team
            yield f"Owner({service}, {team})"
            if draw.random() < 0.2:
                yield f"Critical({service})"
    customers = [f"c{k}" for k in range(max(2, n // 3))]
    for customer in customers:
        yield f"Plan({customer}, {draw.choices(('basic', 'business', 'premium'), (70, 25, 5))[0]})"
    for ticket in (f"t{k}" for k in range(n)):
        state, service = one_of(draw, _STATES), draw.choice(list(owner))
        team = owner[service]
        yield f"State({ticket}, {state})"
        yield f"Priority({ticket}, {one_of(draw, _PRIORITIES)})"
        yield f"Level({ticket}, {draw.choices((0, 1, 2), (85, 12, 3))[0]})"
        yield f"About({ticket}, {service})"
        yield f"Reporter({ticket}, {customers[int(draw.paretovariate(1.0)) % len(customers)]})"
        yield f"Queue({ticket}, {team})"
        yield f"Assignee({ticket}, {draw.choice(people[team])})"
        yield f"Answered({ticket})"
