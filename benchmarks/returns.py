"""A returns desk over orders as they lie in a shop's database: many records, one of them in hand at a time.

One decision: the users come one after the other out of one seeded sequence, so that the orders of
``returns_desk(n)`` are the first n of any larger one (the wallet of the last user aside, nothing is cut).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice

import stead_sym as st

_SEED = 376  # the first orders are pending, delivered and shipped, with wallets of two methods and of one
_TYPES = {"credit_card": 55, "paypal": 25, "gift_card": 20}
_STATUSES = {"delivered": 45, "pending": 25, "shipped": 12, "processed": 10, "cancelled": 5, "returned": 3}
_ORDERS = {1: 52, 2: 24, 3: 12, 4: 8, 5: 4}  # of a user, with their shares in percent
_METHODS = {1: 40, 2: 33, 3: 18, 4: 9}  # in a wallet

_CLOSE = "clear Request, Confirmed, Authenticated"
_REQUESTED = "exists k. Request(o, k)"
_OWNER = "exists o, k. Request(o, k) & Owner(o, u)"

AUTHENTICATE = st.tool(
    "authenticate",
    "user_id: user",
    "Have the owner of the requested order prove who they are.",
    guard="~Authenticated(user_id) & exists o, k. Request(o, k) & Owner(o, user_id)",
    effect="insert Authenticated(user_id)",
)

_TOOLS = (
    st.tool(
        "next_request",
        description="Wait for the next request.",
        guard="~exists o, k. Request(o, k)",
        effect="choose o: order where exists u. Owner(o, u)\nchoose k: kind\ninsert Request(o, k)",
    ),
    AUTHENTICATE,
    st.tool(
        "ask_confirmation",
        "order_id: order",
        "Ask whether to go on; the customer may be lost over it.",
        guard="~Confirmed(order_id) & exists k, u. Request(order_id, k) & Owner(order_id, u)"
        " & Authenticated(u)",
        effect=["insert Confirmed(order_id)", _CLOSE],
    ),
    st.tool(
        "cancel",
        "order_id: order",
        "Cancel a pending order and pay the money back to the method that was charged.",
        guard="Request(order_id, cancel) & Status(order_id, pending)",
        effect=f"""
            set Status(order_id, cancelled)
            insert RefundTo(order_id, p) for p where PaidWith(order_id, p)
            {_CLOSE}
        """,
    ),
    st.tool(
        "take_back",
        "order_id: order, method_id: method",
        "Take a delivered order back and pay the money to a method of the owner's wallet.",
        guard="Request(order_id, take_back) & Status(order_id, delivered) & in_wallet(order_id, method_id)",
        effect=f"""
            set Status(order_id, returned)
            insert RefundTo(order_id, method_id)
            {_CLOSE}
        """,
    ),
    st.tool(
        "change_payment",
        "order_id: order, method_id: method",
        "Charge another method of the wallet for a pending order.",
        guard="Request(order_id, change) & Status(order_id, pending) & ~PaidWith(order_id, method_id)"
        " & in_wallet(order_id, method_id)",
        effect=f"set PaidWith(order_id, method_id)\n{_CLOSE}",
    ),
    st.tool(
        "hand_over",
        description="Hand the request over to a person.",
        guard="exists o, k. Request(o, k)",
        effect=_CLOSE,
    ),
)
_TO_CONFIRM = (
    "Request(o, cancel) & Status(o, pending) | Request(o, take_back) & Status(o, delivered)"
    " | Request(o, change) & Status(o, pending) & exists m. in_wallet(o, m) & ~PaidWith(o, m)"
)
_POLICIES = {
    "careful": [
        "call next_request()",
        "call authenticate(u)",
        f"call ask_confirmation(o) when ~Confirmed(o) & ({_TO_CONFIRM})",
        "call cancel(o)",
        "call take_back(o, m) when PaidWith(o, m) | Type(m, gift_card)",
        "call change_payment(o, m)",
        "call hand_over()",
    ],
    "hasty": [
        "call next_request()",
        "call cancel(o)",
        "call take_back(o, m)",
        "call change_payment(o, m)",
        "call hand_over()",
    ],
}
_SPECS = {
    "one_at_a_time": "AG forall o, p. (exists k. Request(o, k)) & (exists k. Request(p, k)) -> o = p",
    "answered": "AG ((exists o, k. Request(o, k)) -> AF ~exists o, k. Request(o, k))",
    "shipped_stays": "AG forall o. Status(o, shipped) -> AX Status(o, shipped)",
    "may_cancel": "AG forall o. Request(o, cancel) & Status(o, pending) -> EF Status(o, cancelled)",
    "asked_first": "AG forall o. Status(o, pending) -> A[~Status(o, cancelled) W Confirmed(o)]",
    "where_paid": "AG forall o, m. RefundTo(o, m) -> PaidWith(o, m) | Type(m, gift_card)",
    "refund_stays": "AG forall o, m. RefundTo(o, m) -> AX RefundTo(o, m)",
}


def returns_desk(n: int) -> st.Deployment:
    """A database of ``n`` orders, one request in hand at a time.

    A user has one to five orders and a wallet of one to four methods of three types, one of which each order
    was paid with; an order has one of six statuses. The environment picks any order and any of three kinds
    of request; the agent is shown the requested order, its owner and their wallet. Whatever ends a request
    clears all that was noted for it, in relations over all orders and users.

    `careful` asks before it acts and pays back to the method charged or to a gift card; `hasty` does neither.
    """
    return st.build_deployment(
        f"returns_desk{n}",
        sorts={
            "order": None,
            "user": None,
            "method": None,
            "kind": st.rigid("cancel", "take_back", "change"),
            "type": st.rigid(*_TYPES),
            "status": st.rigid(*_STATUSES),
        },
        relations={
            "Owner": "order, user",
            "Wallet": "user, method",
            "Type": "method, type",
            "Status": "order key, status",
            "PaidWith": "order key, method",
            "RefundTo": "order, method",
            "Request": "order, kind",
            "Authenticated": "user",
            "Confirmed": "order",
        },
        init=list(_facts(n)),
        define={"in_wallet(o: order, m: method)": "exists u. Owner(o, u) & Wallet(u, m)"},
        views={
            "Request(o, k)": "true",
            "Confirmed(o)": "true",
            "Authenticated(u)": "true",
            "Owner(o, u)": _REQUESTED,
            "Status(o, q)": _REQUESTED,
            "PaidWith(o, m)": _REQUESTED,
            "RefundTo(o, m)": _REQUESTED,
            "Wallet(u, m)": _OWNER,
            "Type(m, t)": f"exists u. Wallet(u, m) & {_OWNER}",
        },
        tools=_TOOLS,
        policies=_POLICIES,
        specs=_SPECS,
    )


def _facts(n: int) -> Iterator[str]:
    """The facts about ``n`` orders and their owners."""
    draw = random.Random(_SEED)

    def one_of(shares: dict[str, int] | dict[int, int]) -> str:
        return str(draw.choices(list(shares), list(shares.values()))[0])

    left = n
    for user in (f"u{k}" for k in count()):
        if left == 0:
            return
        own = int(one_of(_ORDERS))
        wallet = [f"m{k}_{user}" for k in range(int(one_of(_METHODS)))]
        for method in wallet:
            yield f"Wallet({user}, {method})"
            yield f"Type({method}, {one_of(_TYPES)})"
        for order in islice((f"o{k}_{user}" for k in range(own)), left):
            status = one_of(_STATUSES)
            paid = draw.choice(wallet)
            yield f"Owner({order}, {user})"
            yield f"Status({order}, {status})"
            yield f"PaidWith({order}, {paid})"
            if status in ("cancelled", "returned"):
                yield f"RefundTo({order}, {paid})"
            left -= 1
