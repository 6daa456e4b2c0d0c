"""Findings that the author of the file accepts, by a comment at their position."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Span
from stead_sym.verification.findings.finding import ACCEPTABLE, AcceptedFinding, Finding, in_order

Sorted = tuple[tuple[Finding, ...], tuple[AcceptedFinding, ...]]


def without_accepted(
    deployment: Deployment, findings: Iterable[Finding], agents: Collection[str] = ()
) -> Sorted:
    """Split findings into active and accepted ones, each in order.

    A comment of the file accepts a finding if it is for every agent or for one of ``agents``. A finding by
    which an agent or a specification does less than expected can be accepted. A finding by which a verdict
    does not establish what it seems to cannot; a comment that attempts it is a finding itself.
    """
    comments = [one for one in deployment.accepted if one.agent is None or one.agent in agents]
    reasons = {(one.kind, one.line): one.reason for one in comments if one.kind in ACCEPTABLE}
    standing = [_refused(one.kind, one.place) for one in comments if one.kind not in ACCEPTABLE]
    accepted = []
    for finding in in_order(findings):
        reason = reasons.get((finding.kind, finding.place.line)) if finding.place else None
        if reason is None:
            standing.append(finding)
        else:
            accepted.append(AcceptedFinding(finding, reason))
    return in_order(standing), tuple(accepted)


def _refused(kind: str, place: Span) -> Finding:
    return Finding(
        "not accepted",
        place,
        f"no finding `{kind}` can be accepted",
        f"a comment can accept {', '.join(sorted(ACCEPTABLE))}; mend what any other finding is about",
    )
