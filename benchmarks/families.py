"""Parametric families of deployments: plain functions from a size to a deployment.

`desks` scales the number of records in flight where each is attached to a constant, `refunds` the
number of records in flight that are not, `service_desk` the size of the initial database,
`returns_desk` (`returns`) that of a more lifelike one, and `service_desk_any` how large the databases are of
which it may be any.
"""

from __future__ import annotations

from returns import AUTHENTICATE, returns_desk

import stead_sym as st

__all__ = ["chain", "desks", "refunds", "returns_desk", "service_desk", "service_desk_any", "transfers"]

_REFUND_RELATIONS = {
    "Approver": ("service", "service"),
    "CaseStatus": ("case", "status"),
    "Handler": ("case", "service"),
    "PartOf": ("task", "case"),
    "Approved": ("task", "service"),
    "RefundIssued": ("task",),
}


_DESK_TOOLS = (
    st.tool(
        "next_case",
        description="Wait for the dispatcher: a new case at a free desk, or one that is under way.",
        guard="~exists c. Focus(c)",
        effect=[
            """
                choose s: service where (exists a. Approver(s, a)) & ~exists c. Handler(c, s)
                fresh c: case
                fresh t: task
                insert CaseStatus(c, open)
                insert Handler(c, s)
                insert PartOf(t, c)
                insert Focus(c)
            """,
            "choose c: case where exists q. CaseStatus(c, q)\ninsert Focus(c)",
        ],
    ),
    st.tool(
        "issue_refund",
        "task_id: task",
        "Pay the refund of an open task.",
        guard="pending(task_id)",
        effect="insert RefundIssued(task_id)\nclear Focus",
    ),
    st.tool(
        "obtain_approval",
        "task_id: task, approver_id: service",
        "Record that an approver approved a task.",
        guard="pending(task_id) & exists s, c. Focus(c) & Handler(c, s) & Approver(s, approver_id)",
        effect="insert Approved(task_id, approver_id)\nclear Focus",
    ),
    st.tool(
        "resolve_case",
        "case_id: case",
        "Close an open case whose refund was paid.",
        guard="Focus(case_id) & CaseStatus(case_id, open) & exists t. PartOf(t, case_id) & RefundIssued(t)",
        effect="delete CaseStatus(case_id, open)\ninsert CaseStatus(case_id, resolved)\nclear Focus",
    ),
    st.tool(
        "archive_case",
        "case_id: case",
        "Archive a resolved case with its task.",
        guard="Focus(case_id) & CaseStatus(case_id, resolved)",
        effect="""
            delete CaseStatus(case_id, q) for q
            delete Handler(case_id, s) for s
            delete Approved(t, a) for t, a where PartOf(t, case_id)
            delete RefundIssued(t) for t where PartOf(t, case_id)
            delete PartOf(t, case_id) for t
            clear Focus
        """,
    ),
)


def refunds(b: int) -> st.Deployment:
    """The refund workflow with at most ``b`` concurrent cases, any of them advancing next.

    The literal restriction has Σ_k C(n,k)·n!/(n−k)!·6^k states over n = 2b + 1 values of case and task.
    """
    return st.build_deployment(
        f"refunds{b}",
        sorts={
            "case": None,
            "task": None,
            "service": ("s1", "a1", "s2", "a2"),
            "status": st.rigid("open", "resolved"),
        },
        relations=_REFUND_RELATIONS,
        init=["Approver(s1, a1)", "Approver(s2, a2)"],
        bounds={"case": b, "task": b},
        tools=[
            st.tool(
                "ingest_case",
                description="Take the next refund case.",
                guard=f"~atleast {b} c. exists q. CaseStatus(c, q)",
                effect="""
                    choose s: service where s = s1 | s = s2
                    fresh c: case
                    fresh t: task
                    insert CaseStatus(c, open)
                    insert Handler(c, s)
                    insert PartOf(t, c)
                """,
            ),
            st.tool(
                "issue_refund",
                "task_id: task",
                "Pay the refund of an open task.",
                guard="~RefundIssued(task_id) & exists c. PartOf(task_id, c) & CaseStatus(c, open)",
                effect="insert RefundIssued(task_id)",
            ),
            st.tool(
                "resolve_case",
                "case_id: case",
                "Close an open case whose refund was paid.",
                guard="CaseStatus(case_id, open) & exists t. PartOf(t, case_id) & RefundIssued(t)",
                effect="delete CaseStatus(case_id, open)\ninsert CaseStatus(case_id, resolved)",
            ),
            st.tool(
                "archive_case",
                "case_id: case",
                "Archive a resolved case with its task.",
                guard="CaseStatus(case_id, resolved)",
                effect="""
                    delete CaseStatus(case_id, resolved)
                    delete Handler(case_id, s) for s
                    delete RefundIssued(t) for t where PartOf(t, case_id)
                    delete PartOf(t, case_id) for t
                """,
            ),
        ],
        specs={
            "auth": "AG forall t, c, s, a."
            " RefundIssued(t) & PartOf(t, c) & Handler(c, s) & Approver(s, a) -> Approved(t, a)",
            "prog": "AG forall c. CaseStatus(c, open) -> AF CaseStatus(c, resolved)",
            "may_resolve": "AG forall c. CaseStatus(c, open) -> EF CaseStatus(c, resolved)",
        },
    )


def desks(k: int) -> st.Deployment:
    """``k`` handler-approver desks with at most one case each; the dispatcher hands the agent one case
    per step, and the agent is shown that case only.

    With representatives there are 3^k·(k + 1) states under `baseline` and 4^k·(k + 1) under `approving`: a
    desk is free or in one of the phases in which the agent leaves a case, and at most one is in hand.
    """
    pairs = [(f"s{i}", f"a{i}") for i in range(1, k + 1)]
    focused = "exists c. Focus(c) & "
    return st.build_deployment(
        f"desks{k}",
        sorts={
            "case": None,
            "task": None,
            "service": tuple(name for pair in pairs for name in pair),
            "status": st.rigid("open", "resolved"),
        },
        relations={**_REFUND_RELATIONS, "Focus": ("case",)},
        init=[f"Approver({s}, {a})" for s, a in pairs],
        bounds={"case": k, "task": k},
        define={
            "pending(t: task)": f"{focused}PartOf(t, c) & CaseStatus(c, open) & ~RefundIssued(t)",
        },
        views={
            "Focus(c)": "true",
            "CaseStatus(c, q)": "Focus(c)",
            "Handler(c, s)": "Focus(c)",
            "PartOf(t, c)": "Focus(c)",
            "RefundIssued(t)": f"{focused}PartOf(t, c)",
            "Approved(t, a)": f"{focused}PartOf(t, c)",
            "Approver(s, a)": f"{focused}Handler(c, s)",
        },
        tools=_DESK_TOOLS,
        policies={
            "baseline": [
                "call next_case()",
                "call issue_refund(t)",
                "call resolve_case(c)",
                "call archive_case(c)",
            ],
            "approving": [
                "call next_case()",
                "call obtain_approval(t, a) when ~Approved(t, a)",
                "call issue_refund(t)",
                "call resolve_case(c)",
                "call archive_case(c)",
            ],
        },
        specs={
            "auth": "AG forall t, c, s, a."
            " RefundIssued(t) & PartOf(t, c) & Handler(c, s) & Approver(s, a) -> Approved(t, a)",
            "may_resolve": "AG forall c. CaseStatus(c, open) -> EF CaseStatus(c, resolved)",
            "prog": "AG forall c. CaseStatus(c, open) -> AF CaseStatus(c, resolved)",
            "focused": "AG forall c, d. Focus(c) & Focus(d) -> c = d",
            "stays_with_desk": "AG forall c, s. Handler(c, s)"
            " -> A[Handler(c, s) W ~exists q. CaseStatus(c, q)]",
            "no_double": "AG forall t. RefundIssued(t)"
            " -> AG (RefundIssued(t) | ~exists c. (PartOf(t, c) | EF ~exists c. PartOf(t, c)))",
        },
    )


_REQUESTED = "exists k. Request(o, k)"
_CLOSE = """
    clear Request
    delete Granted(order_id)
    delete Authenticated(u) for u where Owner(order_id, u)
"""
_ORDER_SORTS = {
    "order": None,
    "user": None,
    "method": None,
    "kind": st.rigid("cancel", "take_back", "change"),
    "status": st.rigid("pending", "delivered", "cancelled", "returned"),
}
_ORDER_VIEWS = {
    "Request(o, k)": "true",
    "Authenticated(u)": "true",
    "Granted(o)": "true",
    "Owner(o, u)": _REQUESTED,
    "Status(o, q)": _REQUESTED,
    "PaidWith(o, m)": _REQUESTED,
}
_ORDER_TOOLS = (
    AUTHENTICATE,
    st.tool(
        "ask_confirmation",
        "order_id: order",
        "Ask whether to go on; the owner may refuse.",
        guard="~Granted(order_id) & exists k, u. Request(order_id, k) & Owner(order_id, u)"
        " & Authenticated(u)",
        effect=["insert Granted(order_id)", _CLOSE],
    ),
    st.tool(
        "cancel",
        "order_id: order",
        "Cancel a pending order.",
        guard="Request(order_id, cancel) & Granted(order_id) & Status(order_id, pending)",
        effect=f"delete Status(order_id, pending)\ninsert Status(order_id, cancelled)\n{_CLOSE}",
    ),
    st.tool(
        "take_back",
        "order_id: order",
        "Take a delivered order back.",
        guard="Request(order_id, take_back) & Granted(order_id) & Status(order_id, delivered)",
        effect=f"delete Status(order_id, delivered)\ninsert Status(order_id, returned)\n{_CLOSE}",
    ),
    st.tool(
        "change_payment",
        "order_id: order, method_id: method",
        "Charge another method of the wallet.",
        guard="Request(order_id, change) & Granted(order_id) & ~PaidWith(order_id, method_id)"
        " & in_wallet(order_id, method_id)",
        effect=f"delete PaidWith(order_id, m) for m\ninsert PaidWith(order_id, method_id)\n{_CLOSE}",
    ),
    st.tool(
        "hand_over",
        description="Hand the request over to a person.",
        guard="exists o, k. Request(o, k)",
        effect="clear Request, Authenticated, Granted",
    ),
)
_ORDER_RULES = (
    "call authenticate(u)",
    "call ask_confirmation(o) when Request(o, cancel) & Status(o, pending)"
    " | Request(o, take_back) & Status(o, delivered)"
    " | Request(o, change) & exists m. in_wallet(o, m) & ~PaidWith(o, m)",
    "call cancel(o)",
    "call take_back(o)",
    "call change_payment(o, m)",
    "call hand_over()",
)
_ORDER_SPECS = {
    "one_at_a_time": "AG forall o, p. (exists k. Request(o, k)) & (exists k. Request(p, k)) -> o = p",
    "answered": "AG ((exists o, k. Request(o, k)) -> AF ~exists o, k. Request(o, k))",
    "delivered_stays": "AG forall o. Status(o, delivered) -> AX (Status(o, delivered) | Status(o, returned))",
    "may_close": "AG ((exists o, k. Request(o, k)) -> EF exists o. Status(o, cancelled))",
    "never_returned": "AG ~exists o. Status(o, returned)",
}


def service_desk(n: int) -> st.Deployment:
    """A database of ``n`` orders, one request in hand at a time.

    Each order has an owner (of up to three orders), a status and a payment method out of the owner's
    wallet of one to three. The environment picks any order and any of three kinds of request; the
    agent is shown the requested order, its owner and that wallet.
    """
    orders = [f"o{i}" for i in range(n)]
    owner = {order: f"u{i // 3}" for i, order in enumerate(orders)}
    users = sorted(set(owner.values()))
    wallet = {user: [f"m{j}_{user}" for j in range(1 + i % 3)] for i, user in enumerate(users)}
    return st.build_deployment(
        f"service_desk{n}",
        sorts=_ORDER_SORTS,
        relations={
            "Owner": ("order", "user"),
            "Wallet": ("user", "method"),
            "Status": ("order", "status"),
            "PaidWith": ("order", "method"),
            "Request": ("order", "kind"),
            "Authenticated": ("user",),
            "Granted": ("order",),
        },
        init=[
            *(f"Owner({order}, {user})" for order, user in owner.items()),
            *(f"Wallet({user}, {method})" for user in users for method in wallet[user]),
            *(f"Status({o}, {'delivered' if i % 2 else 'pending'})" for i, o in enumerate(orders)),
            *(f"PaidWith({order}, {wallet[user][0]})" for order, user in owner.items()),
        ],
        define={"in_wallet(o: order, m: method)": "exists u. Owner(o, u) & Wallet(u, m)"},
        views={**_ORDER_VIEWS, "Wallet(u, m)": "exists o, k. Request(o, k) & Owner(o, u)"},
        tools=[
            st.tool(
                "next_request",
                description="Wait for the next request.",
                guard="~exists o, k. Request(o, k)",
                effect="choose o: order where exists u. Owner(o, u)\nchoose k: kind\ninsert Request(o, k)",
            ),
            *_ORDER_TOOLS,
        ],
        policies={"careful": ["call next_request()", *_ORDER_RULES]},
        specs={
            "own_wallet": "AG forall o, m, u. PaidWith(o, m) & Owner(o, u) -> Wallet(u, m)",
            **_ORDER_SPECS,
        },
    )


def service_desk_any(n: int, methods: int = 3) -> st.Deployment:
    """*Any* database of up to ``n`` orders, each with an owner and a wallet, one request in hand at a time.

    An order has an owner, who may have several, a status, a wallet of some of ``methods`` payment methods,
    and a method of the wallet that it is paid with: nothing else is known of the database. What customers
    request is an event; otherwise the desk is that of `service_desk`.
    """
    return st.build_deployment(
        f"service_desk_any{n}",
        sorts=_ORDER_SORTS,
        relations={
            "Owner": "order key, user",
            "Wallet": "order, method",
            "Status": "order key, status",
            "PaidWith": "order key, method",
            "Request": "order key, kind",
            "Authenticated": "user",
            "Granted": "order",
        },
        initially=st.initially_any(
            "Owner, Wallet, Status, PaidWith",
            "forall o: order. Owner(o, _) & Status(o, _) & exists m. PaidWith(o, m) & Wallet(o, m)",
        ),
        bounds={"order": n, "user": n, "method": methods},
        define={"in_wallet(o: order, m: method)": "Wallet(o, m)"},
        views={**_ORDER_VIEWS, "Wallet(o, m)": _REQUESTED},
        tools=[
            st.event(
                "request",
                "o: order, k: kind",
                "A customer asks for something.",
                guard="~Request(_, _) & Owner(o, _)",
                effect="insert Request(o, k)",
            ),
            st.event("quiet", description="Nobody asks for anything.", guard="~Request(_, _)"),
            *_ORDER_TOOLS,
        ],
        policies={"careful": _ORDER_RULES},
        specs={
            "own_wallet": "AG forall o, m. PaidWith(o, m) -> Wallet(o, m)",
            **_ORDER_SPECS,
            "own_method": "AG forall o, p, m. PaidWith(o, m) & PaidWith(p, m) -> o = p",
        },
    )


def payments(b: int) -> st.Deployment:
    """``b`` orders, of each of which any amount up to 19 is paid, and a limit on the sum of all that is asked
    for: numbers that one call writes, and a sum over every record."""
    return st.build_deployment(
        f"payments{b}",
        sorts={"order": None, "amount": range(20)},
        relations={"Paid": "order key, amount"},
        init=[f"Paid(o{k}, 0)" for k in range(b)],
        tools=[st.tool("pay", "o: order, a: amount", guard="Paid(o, _)", effect="set Paid(o, a)")],
        specs={"limit": f"EF (sum a for o: order, a: amount. Paid(o, a)) > {b}"},
    )


def transfers(b: int) -> st.Deployment:
    """A bank with at most ``b`` transfers at once, each from a new account to a new account, requested and
    approved by one of three employees: values that are created together, and a few that all records name."""
    return st.build_deployment(
        f"transfers{b}",
        sorts={
            "account": None,
            "transfer": None,
            "employee": ("alice", "bob", "carol"),
            "band": st.rigid("small", "large"),
            "state": st.rigid("requested", "paid"),
        },
        relations={
            "Officer": "employee",
            "Transfer": "transfer, account, account",
            "Band": "transfer, band",
            "State": "transfer, state",
            "RequestedBy": "transfer, employee",
            "ApprovedBy": "transfer, employee",
        },
        init=["Officer(bob)", "Officer(carol)"],
        bounds={"transfer": b, "account": 2 * b},
        tools=[
            st.tool(
                "request",
                "by: employee, size: band",
                guard=f"atmost {b - 1} t. exists s. State(t, s)",
                effect="""
                    fresh t: transfer
                    fresh origin: account
                    fresh goal: account
                    insert Transfer(t, origin, goal)
                    insert Band(t, size)
                    insert State(t, requested)
                    insert RequestedBy(t, by)
                """,
            ),
            st.tool(
                "approve",
                "t: transfer, e: employee",
                guard="State(t, requested) & Officer(e)",
                effect="insert ApprovedBy(t, e)",
            ),
            st.tool(
                "pay",
                "t: transfer",
                guard="State(t, requested)",
                effect="delete State(t, requested)\ninsert State(t, paid)",
            ),
            st.tool(
                "archive",
                "t: transfer",
                guard="State(t, paid)",
                effect="""
                    delete State(t, paid)
                    delete Transfer(t, x, y) for x, y
                    delete Band(t, z) for z
                    delete RequestedBy(t, e) for e
                    delete ApprovedBy(t, e) for e
                """,
            ),
        ],
        policies={
            "fast": [
                "call pay(t) when Band(t, small)",
                "call approve(t, e) when ~RequestedBy(t, e) & ~exists x. ApprovedBy(t, x)",
                "call pay(t) when exists e. ApprovedBy(t, e) & ~RequestedBy(t, e)",
                "call archive(t)",
                "call request(e, z)",
            ]
        },
        specs={
            "four_eyes": "AG forall t. State(t, paid) & Band(t, large)"
            " -> exists e. ApprovedBy(t, e) & ~RequestedBy(t, e)",
            "paid": "AG forall t. State(t, requested) -> AF State(t, paid)",
        },
    )


def chain(n: int) -> st.Deployment:
    """``n`` constants of an unbounded sort, linked in a row, and a mark that moves along it."""
    return st.build_deployment(
        f"chain{n}",
        sorts={"u": None},
        relations={"F": "u, u", "G": "u"},
        init=[*(f"F(x{i}, x{i + 1})" for i in range(n - 1)), "G(x0)"],
        tools=[
            st.tool("move", "x: u, y: u", guard="G(x) & F(x, y)", effect="delete G(x)\ninsert G(y)"),
            st.tool("rest", guard=f"G(x{n - 1})"),
        ],
        specs={"leaves": f"AG forall x: u. (G(x) & x != x{n - 1} -> EF ~G(x))"},
    )
