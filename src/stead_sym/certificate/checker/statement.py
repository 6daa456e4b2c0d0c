"""The statement of a certificate: its deployment, parsed again, with the formulas of its claims.

A part that does not fit the deployment is an `InputError`; domains that are too small are rejected.

One decision: a claim is its formula. Its name is that of a specification with this formula in the
deployment, or a text of this formula; it is printable ASCII without a comment, so that no other name looks
like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.certificate.document import Certificate, Claim, Shown, Source, cut, is_plain, short
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.deployment.tool import Fresh
from stead_sym.errors import InputError, Undecided
from stead_sym.logic.names import is_name
from stead_sym.logic.parser import parse_formula


@dataclass(frozen=True, slots=True)
class Sentence:
    """A claim: the formula holds at every D0, or if ``holds`` is False fails at one.

    ``text`` is the formula as printed from the parsed one, with the definitions of the deployment unexpanded.
    """

    name: str
    text: str
    formula: fo.Formula
    holds: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """The deployment and, per claim of the certificate, its sentence."""

    deployment: Deployment
    claims: tuple[Sentence, ...]


def stated(certificate: Certificate, source: str) -> Statement:
    """Return the statement of the certificate.

    Raise `InputError` if its parts do not fit the deployment, `CertificateRejected` for a domain that is not
    a restriction of the theorem.
    """
    deployment = deployment_of(certificate.deployment, source)
    claims = sentences(certificate.claims, deployment, source)
    if deployment.fair_actions:
        _refuse_beyond_safety(deployment, claims, source)
    _check_agents(certificate, deployment, source)
    deployment = _followed(deployment, claims, certificate, source)
    claims = tuple(replace(claim, formula=deployment.told(claim.formula)) for claim in claims)
    specs = [Spec(claim.name, claim.formula) for claim in claims]
    _check_facts(certificate, deployment, source)
    _check_named(certificate, deployment, source)
    _check_domain(certificate, deployment, specs)
    return Statement(deployment, claims)


def always(formula: fo.Formula) -> Iterator[fo.Formula | None]:
    """Yield the first-order sentences that a formula says to be always true, or None for another formula."""
    match formula:
        case fo.And(parts):
            for part in parts:
                yield from always(part)
        case fo.Globally("A", body) if not fo.is_temporal(body):
            yield body
        case fo.Globally("A", fo.And(parts)):
            for part in parts:
                yield from always(fo.Globally("A", part))
        case fo.Globally("A", fo.Globally("A") as inner):
            yield from always(inner)
        case fo.Not(fo.Future("E", body)):
            yield from always(fo.Globally("A", fo.Not(body)))
        case _:
            yield None


def _refuse_beyond_safety(deployment: Deployment, claims: Iterable[Sentence], source: str) -> None:
    """Raise `InputError` for a claim that fairness of actions may decide.

    Every finite run extends to one that is fair for actions, since each of them may be taken in turn. So what
    is always true does not depend on their fairness. This argument is not made for fairness of actions
    together with fairness of states: then raise `InputError` for any claim.
    """
    line = deployment.fair_actions[0]
    if deployment.fair:
        raise InputError(
            f"{source}: the deployment has `fair {line}` beside fairness of states, and a certificate has no"
            " obligations for both; nothing can be certified under them"
        )
    for claim in claims:
        if None in always(claim.formula):
            raise InputError(
                f"{source}: the deployment has `fair {line}`, under which only what is always true (`AG` of a"
                f" first-order sentence) can be certified; {short(claim.name)} says something else"
            )


def _followed(
    deployment: Deployment, claims: Iterable[Sentence], certificate: Certificate, source: str
) -> Deployment:
    """Return the deployment whose states record the required part of the last step and of the past.

    The claims, the further sentences of the certificate, and the deciding policies determine what is
    required.
    """
    asked = [Spec(claim.name, claim.formula) for claim in claims]
    asked += (Spec(text, _formula(text, "sentence", deployment, source)[1]) for text in certificate.asked)
    return deployment.following(asked, {table.name: table.policy or "" for table in certificate.agents})


def deployment_of(source_of: Source, source: str) -> Deployment:
    """Return the deployment of a certificate, which must have the given name."""
    deployment = parse_deployment(source_of.text, f"{source}: the deployment")
    if deployment.name != source_of.name:
        raise InputError(f"{source}: the deployment is called {deployment.name}, not {short(source_of.name)}")
    return deployment


def sentences(claims: Iterable[Claim | Shown], deployment: Deployment, source: str) -> tuple[Sentence, ...]:
    """Return the claims, which must be distinct; a claim for an arbitrary number of records holds."""
    found = tuple(_sentence(claim, deployment, source) for claim in claims)
    if len({claim.name for claim in found}) < len(found):
        raise InputError(f"{source}: a specification is there twice; write the certificate again")
    return found


def _sentence(claim: Claim | Shown, deployment: Deployment, source: str) -> Sentence:
    """Return the claim if its name denotes its formula; raise `InputError` otherwise."""
    text, formula = _formula(claim.formula, "formula", deployment, source)
    own = {spec.name: spec.formula for spec in deployment.specs}
    if claim.spec in own:
        named = own[claim.spec]
    elif is_name(claim.spec) and claim.spec not in ("true", "false"):
        raise InputError(
            f"{source}: {short(claim.spec)} is no specification of the deployment;"
            " write the certificate again"
        )
    else:
        _, named = _formula(claim.spec, "name", deployment, source)
    if named != formula:
        raise InputError(
            f"{source}: {short(claim.spec)} is another formula than the claim's, {short(text)};"
            " write the certificate again"
        )
    return Sentence(claim.spec, text, formula, isinstance(claim, Shown) or claim.verdict == "holds")


def _formula(text: str, what: str, deployment: Deployment, source: str) -> tuple[str, fo.Expanded]:
    """Return the formula of a claim, as printed and as expanded.

    ``what`` names the part of the claim for error messages.
    """
    if not is_plain(text):
        raise InputError(
            f"{source}: the {what} {short(text)} of a claim has characters that formulas do not have, or"
            " blanks around it; write the certificate again"
        )
    try:
        raw = parse_formula(text)
        return str(raw), deployment.formula(raw)
    except InputError as error:
        raise InputError(
            f"{source}: the {what} {short(text)} of a claim is no formula over the deployment"
            f" ({cut(error.message)}); write the certificate again"
        ) from None


def _check_facts(certificate: Certificate, deployment: Deployment, source: str) -> None:
    """Check that every fact is over the domain, and that none is listed twice."""
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
    """Check that there is one table for each agent, and that the policies are those of the deployment."""
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
    """Check that names are assigned to fresh variables, after variables that precede them."""
    for named in certificate.named:
        tool = deployment.tool(named.tool)
        before = {param.name for param in tool.params}
        is_fresh = False
        if named.alternative < len(tool.effects):
            for statement in tool.effects[named.alternative].statements:
                binder = getattr(statement, "binder", None)
                if binder is None:
                    continue
                if binder.name == named.variable:
                    is_fresh = isinstance(statement, Fresh)
                    break
                before.add(binder.name)
        if not is_fresh or named.after not in before:
            raise InputError(
                f"{source}: {named.variable} of {named.tool} cannot be named after {named.after};"
                " write the certificate again"
            )
    if certificate.mode == "theorem" and certificate.named:
        raise InputError(f"{source}: fresh values have no names in mode theorem; write the certificate again")


def _check_domain(certificate: Certificate, deployment: Deployment, specs: list[Spec]) -> None:
    """Check that |(U_f)_S| is at least what the theorem (or mode `normal`) requires.

    C comes first, and the other values are names.
    """
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
        if not all(map(is_name, names)):
            raise CertificateRejected(f"the names of {sort} are identifiers", "domain")
