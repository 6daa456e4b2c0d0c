"""What a certificate is about: its deployment, read anew from the text, with the formulas of its
specifications.

What does not fit the deployment at all is an `InputError`; domains that are too small are rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

from stead_sym.certificate.document import Certificate
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.deployment.tool import Fresh
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.syntax import Formula


@dataclass(frozen=True, slots=True)
class Statement:
    """The deployment and, per claim of the certificate, the sentence with what is claimed of it."""

    deployment: Deployment
    claims: tuple[tuple[Formula, bool], ...]


def stated(certificate: Certificate, source: str) -> Statement:
    """What the certificate states. Raises `InputError` where its parts do not fit the deployment,
    `CertificateRejected` for a domain that is no restriction of the theorem."""
    deployment = parse_deployment(certificate.text, f"{source}: the deployment")
    if deployment.name != certificate.deployment:
        raise InputError(
            f"{source}: the deployment is called {deployment.name}, not {certificate.deployment}"
        )
    own = {spec.name: spec.formula for spec in deployment.specs}
    specs: list[Spec] = []
    for claim in certificate.claims:
        formula = deployment.formula(claim.formula)
        if own.get(claim.spec, formula) != formula:
            raise InputError(f"{source}: {claim.spec} is another formula in the deployment; write it again")
        specs.append(Spec(claim.spec, formula))
    if len({spec.name for spec in specs}) < len(specs):
        raise InputError(f"{source}: a specification is there twice; write the certificate again")
    _check_facts(certificate, deployment, source)
    _check_agents(certificate, deployment, source)
    _check_named(certificate, deployment, source)
    _check_domain(certificate, deployment, specs)
    claims = ((s.formula, c.verdict == "holds") for s, c in zip(specs, certificate.claims, strict=True))
    return Statement(deployment, tuple(claims))


def _check_facts(certificate: Certificate, deployment: Deployment, source: str) -> None:
    """Every fact is one over the domain, and none is there twice."""
    sorts = {sort.name for sort in deployment.schema.sorts}
    if certificate.domain.keys() != sorts:
        raise InputError(
            f"{source}: the domain has other sorts than the deployment; write the certificate again"
        )
    domain = {sort: frozenset(values) for sort, values in certificate.domain.items()}
    listed = certificate.facts + certificate.static
    if len(set(listed)) < len(listed):
        raise InputError(f"{source}: a fact is listed twice; write the certificate again")
    tables = (e.shown for a in certificate.agents for e in a.entries or ())
    for fact in (*listed, *(fact for shown in tables for fact in shown)):
        if not deployment.schema.has_relation(fact.relation):
            raise InputError(
                f"{source}: {fact} is of no relation of the deployment; write the certificate again"
            )
    for fact in listed:
        of = deployment.schema.relation(fact.relation).sorts
        if len(of) != len(fact.args) or any(u not in domain[s] for s, u in zip(of, fact.args, strict=True)):
            raise InputError(f"{source}: {fact} is no fact over the domain; write the certificate again")


def _check_agents(certificate: Certificate, deployment: Deployment, source: str) -> None:
    """There is one table for each agent, and policies are those of the deployment."""
    names = [table.name for table in certificate.agents]
    if sorted(names) != sorted(role.name for role in deployment.agents):
        raise InputError(
            f"{source}: there are tables of other agents than the deployment has; write it again"
        )
    for table in certificate.agents:
        if table.policy is not None:
            deployment.policy(table.policy, deployment.agent(table.name))
        for sort in table.known.values():
            deployment.schema.sort(sort)


def _check_named(certificate: Certificate, deployment: Deployment, source: str) -> None:
    """Names are given to fresh variables, after variables that stand before them."""
    for named in certificate.named:
        tool = deployment.tool(named.tool)
        known = {param.name for param in tool.params}
        found = False
        if named.alternative < len(tool.effects):
            for statement in tool.effects[named.alternative].statements:
                binder = getattr(statement, "binder", None)
                if binder is None:
                    continue
                if binder.name == named.variable:
                    found = isinstance(statement, Fresh)
                    break
                known.add(binder.name)
        if not found or named.after not in known:
            raise InputError(
                f"{source}: {named.variable} of {named.tool} cannot be named after {named.after};"
                " write the certificate again"
            )
    if certificate.mode == "theorem" and certificate.named:
        raise InputError(f"{source}: fresh values have no names in mode theorem; write the certificate again")


def _check_domain(certificate: Certificate, deployment: Deployment, specs: list[Spec]) -> None:
    """|(U_f)_S| is at least what the theorem (or mode `normal`) asks, C comes first, the rest are names."""
    try:
        restriction = (
            normal_restriction(deployment)
            if certificate.mode == "normal"
            else theorem_restriction(deployment, specs)
        )
    except Undecided as error:
        raise InputError(str(error)) from None
    constants = {value for values in deployment.constants.values() for value in values}
    taken: set[str] = set()
    for sort, derived in restriction.derivation.items():
        values, own = certificate.domain[sort], deployment.constants[sort]
        names = values[len(own) :]
        if values[: len(own)] != own:
            raise CertificateRejected(f"the values of {sort} start with its constants", "domain")
        if derived.finite and names:
            raise CertificateRejected(f"the sort {sort} is finite", "domain")
        if len(values) < derived.required:
            raise CertificateRejected(
                f"{sort} has {derived.required} values at least, as {certificate.mode} asks", "domain"
            )
        if len(set(names)) < len(names) or constants & set(names) or taken & set(names):
            raise CertificateRejected(f"the names of {sort} are new and differ", "domain")
        taken.update(names)
        if any(not name.isidentifier() for name in names):
            raise CertificateRejected(f"the names of {sort} are identifiers", "domain")
