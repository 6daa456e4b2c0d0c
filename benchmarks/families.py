"""Parametric families of deployments: plain functions from a size to a deployment.

`desks` scales the number of records in flight where each is attached to a constant, `refunds` the
number of records in flight that are not, `service_desk` the size of the initial database.
"""

from __future__ import annotations

import stead_sym as st

_REFUND_RELATIONS = {
    "Approver": ("service", "service"),
    "CaseStatus": ("case", "status"),
    "Handler": ("case", "service"),
    "PartOf": ("task", "case"),
    "Approved": ("task", "service"),
    "RefundIssued": ("task",),
}


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
