"""Check verdicts for an arbitrary number of records: the claims, and the obligations of each set of views.

The latter are in `checker.views`. One decision: an agent that follows a policy of the deployment is read
as guards. A tool for which the policy is applied gets the guard that it is offered, that a rule matches the
call, and that no earlier rule matches an offered call; any other tool may be selected wherever it is offered,
so that more is checked than necessary.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.answered import Answered
from stead_sym.certificate.checker.over_names import Given, View
from stead_sym.certificate.checker.sliced import Sliced
from stead_sym.certificate.checker.starting import mentioned, valued
from stead_sym.certificate.checker.statement import Sentence, always, deployment_of, sentences
from stead_sym.certificate.checker.views import Views
from stead_sym.certificate.checker.watched import watched
from stead_sym.certificate.checker.weaker import without
from stead_sym.certificate.document import Answers, Follower, Induction, ViewsCertificate, short
from stead_sym.certificate.verdict import CertificateRejected, CheckedCertificate, ProvedClaim
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Harness
from stead_sym.deployment.selecting import Selecting, own_args
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.errors import InputError
from stead_sym.logic.names import is_name
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


def check_views(certificate: ViewsCertificate, source: str, backend: Backend | None) -> CheckedCertificate:
    """Check all obligations; raise the exceptions of `check_certificate`."""
    started = time.perf_counter()
    deployment = deployment_of(certificate.deployment, source)
    claims = sentences(certificate.claims, deployment, source)
    unbounded = frozenset(deployment.bounds)
    counts: Counter[str] = Counter()
    proved: Counter[str] = Counter()
    for induction in certificate.inductions:
        for number in induction.shown:
            if number >= len(claims):
                raise InputError(f"{source}: there is no claim {number}; write the certificate again")
        here, open_sorts = deployment, _open_sorts(deployment, induction, source)
        unbounded &= open_sorts
        if induction.constants is not None:
            here = valued(deployment, induction.constants, open_sorts)
        own = [claims[number] for number in induction.shown]
        answered = tuple(_answered(here, one, certificate, source) for one in induction.answers)
        here, asked = _asked(_guarded(here, certificate, source), induction, own)
        here = without(here, induction.left_out)
        for one in answered:
            here = one.guarded(here)
        invariants = {name: _invariant(deployment, name, source) for name in induction.invariants}
        records = None if induction.constants is None else deployment.init.facts
        claimed = [*chain.from_iterable(asked.values())]
        if induction.constants is not None:
            known = here.all_constants
            if not known.issuperset(mentioned(here, (*claimed, *invariants.values()))):
                raise CertificateRejected("what is mentioned is a constant", "views")
        if induction.relations is not None:
            sliced = _sliced(here, induction, source)
            here = sliced.deployment(claimed, tuple(invariants.values()))
            here = without(here, induction.left_out_of_slice)
            open_sorts &= here.bounds.keys()
            records = records and sliced.facts(records)
        views = Views(_given(here, open_sorts, induction, source, backend, invariants, records))
        views.check()
        for one in answered:
            views.check_answers(one)
        for name, said in asked.items():
            views.always(name, said)
        counts += views.counts
        proved += views.claims
    for claim in claims:
        if claim.name not in proved:
            raise CertificateRejected("it is shown by some of the views", f"spec {claim.name}")
    return CheckedCertificate(
        deployment=deployment,
        mode="every number",
        agents={one.name: _decided_by(one, certificate) for one in certificate.agents},
        claims=tuple(ProvedClaim(c.name, c.text, "holds", proved[c.name]) for c in claims),
        obligations=counts,
        facts=sum(len(view) for one in certificate.inductions for view in one.views),
        nodes=0,
        seconds=time.perf_counter() - started,
        unbounded=tuple(sort for sort in deployment.bounds if sort in unbounded),
        views=sum(len(one.views) for one in certificate.inductions),
        harness=Harness(certificate.gates, certificate.calls),
    )


def _answered(
    deployment: Deployment, answers: Answers, certificate: ViewsCertificate, source: str
) -> Answered:
    """Return the answers of an agent that follows no policy."""
    names = [one.name for one in certificate.agents if one.policy is None]
    if answers.name not in names or answers.name not in {role.name for role in deployment.agents}:
        raise InputError(
            f"{source}: it has answers of {short(answers.name)}, which is no agent without a policy;"
            " write it again"
        )
    role = deployment.agent(answers.name)
    if role.each is not None:
        raise InputError(f"{source}: {short(role.name)} is many agents, which no table has; write it again")
    return Answered(deployment, role, answers)


def _asked(
    deployment: Deployment, induction: Induction, claims: Sequence[Sentence]
) -> tuple[Deployment, Mapping[str, tuple[fo.Formula, ...]]]:
    """Return the deployment whose instances the views are parts of, and the sentences to prove, by claim."""
    if not induction.watched:
        return deployment, {claim.name: _always(claim) for claim in claims}
    if len(claims) != 1:
        raise CertificateRejected("a deployment is watched for one claim", "views")
    deployment, sentences = watched(deployment, claims[0].formula, claims[0].name)
    return deployment, {claims[0].name: sentences}


def _sliced(deployment: Deployment, induction: Induction, source: str) -> Sliced:
    """Return the slice whose instances the views are parts of."""
    assert induction.relations is not None
    schema = deployment.schema
    there = {relation.name for relation in schema.relations}
    if not there.issuperset(induction.relations) or not {s.name for s in schema.sorts}.issuperset(
        induction.in_use
    ):
        raise InputError(f"{source}: there is no slice of these relations and sorts; write it again")
    if induction.answers:
        raise CertificateRejected("answers are about the whole deployment", "slice")
    return Sliced(deployment, frozenset(induction.relations), frozenset(induction.in_use))


def _open_sorts(deployment: Deployment, induction: Induction, source: str) -> frozenset[str]:
    """Return the sorts of which an induction is about every number of values.

    These are the deployment's sorts without a bound, or all unbounded sorts if each has a bound. The sorts
    ``without_bounds`` of the induction are added; it does not assume their bounds.
    """
    without_bounds = frozenset(induction.without_bounds)
    if not without_bounds <= deployment.bounds.keys():
        raise InputError(f"{source}: a sort without a bound is none of the deployment; write it again")
    return (deployment.unbounded or frozenset(deployment.bounds)) | without_bounds


def _given(
    deployment: Deployment,
    open_sorts: frozenset[str],
    induction: Induction,
    source: str,
    backend: Backend | None,
    invariants: Mapping[str, fo.Formula],
    records: frozenset[Fact] | None,
) -> Given:
    """Return the views of an induction, up to renaming."""
    views = frozenset(_view(deployment, facts, source) for facts in induction.views)
    given = Given(deployment, open_sorts, induction.k, views, invariants, backend, records)
    return replace(given, views=frozenset(map(given.form, views)))


def _decided_by(one: Follower, certificate: ViewsCertificate) -> str:
    """Return in a few words who decides for an agent."""
    answers = [answers for induction in certificate.inductions for answers in induction.answers]
    asked = max((len(answer.contexts) for answer in answers if answer.name == one.name), default=0)
    if one.policy is None:
        return f"answers in {asked} contexts" if asked else "any (everything offered)"
    return f"policy {one.policy}"


def _always(claim: Sentence) -> tuple[fo.Formula, ...]:
    """Return the sentences that are always true according to a claim."""
    found = tuple(always(claim.formula))
    if None in found:
        raise CertificateRejected("it says what is always true", f"spec {claim.name}")
    return tuple(one for one in found if one is not None)


def _invariant(deployment: Deployment, name: str, source: str) -> fo.Formula:
    """Return the sentence of an `invariant` line."""
    for spec in deployment.specs:
        if spec.name == name and spec.helps and isinstance(spec.formula, fo.Globally):
            return spec.formula.body
    raise InputError(
        f"{source}: {short(name)} is no invariant of the deployment; write the certificate again"
    )


def _view(deployment: Deployment, facts: tuple[Fact, ...], source: str) -> View:
    """Return the facts of a view, which must all be over C and names."""
    sort_of: dict[Value, str] = {}
    for fact in facts:
        known = deployment.schema.has_relation(fact.relation)
        sorts = deployment.schema.relation(fact.relation).sorts if known else ()
        fits = known and len(sorts) == len(fact.args)
        for sort, value in zip(sorts, fact.args, strict=False):
            is_constant = value in deployment.constants[sort]
            new = is_name(value) and value not in deployment.sort_of_constant
            fits = fits and (
                is_constant
                or (not deployment.schema.is_finite(sort) and new and sort_of.setdefault(value, sort) == sort)
            )
        if not fits:
            raise InputError(
                f"{source}: {short(str(fact))} is no fact of the deployment; write the certificate again"
            )
    return frozenset(facts)


def _guarded(deployment: Deployment, certificate: ViewsCertificate, source: str) -> Deployment:
    """Return the deployment in which each tool with an applied policy has the guard that it is selected."""
    if sorted(one.name for one in certificate.agents) != sorted(role.name for role in deployment.agents):
        raise InputError(f"{source}: there are other agents than the deployment has; write it again")
    guarded: dict[str, Tool] = {}
    for one in certificate.agents:
        role = deployment.agent(one.name)
        others = {name for other in deployment.agents if other.name != one.name for name in other.tools}
        for name in one.followed:
            if one.policy is None or name not in role.tools or name in others:
                raise InputError(
                    f"{source}: the tool {short(name)} is not one that {one.name or 'the agent'} alone"
                    " selects by a policy; write the certificate again"
                )
            tool = deployment.tool(name)
            selected = _selected(deployment, role, one.policy, tool)
            guarded[name] = replace(tool, guard=fo.And((tool.guard, selected)))
    tools = tuple(guarded.get(tool.name, tool) for tool in deployment.tools_and_events)
    return deployment.with_tools(tools)


def _selected(deployment: Deployment, role: AgentRole, policy: str, tool: Tool) -> fo.Formula:
    """Return the formula that the first rule that matches an offered call matches this call."""
    reading = Selecting(deployment, role)
    cases: list[fo.Formula] = []
    free: list[fo.Formula] = []  # no rule so far matches an offered call
    for rule in deployment.policy(policy, role).rules:
        if rule.tool == tool.name:
            cases.append(fo.conjunction((*free, reading.matched(rule, own_args(tool)))))
        if rule.tool in role.tools:
            free.append(fo.Not(reading.offered_and_matched(rule)))
    return fo.disjunction(tuple(cases))
