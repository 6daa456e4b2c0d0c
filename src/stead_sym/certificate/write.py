"""Write certificates: the results of a verification by the symbolic engine, in the documented form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

import stead_sym.logic.syntax as fo
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.analyses.views.parts import Facts
from stead_sym.analyses.views.shown import Proof, always
from stead_sym.analyses.views.shown import Shown as EveryNumberShown
from stead_sym.analyses.views.weakening import LeftOut as Conjunct
from stead_sym.certificate.convert import Converter, Sets
from stead_sym.certificate.diagrams import write_diagrams
from stead_sym.certificate.document import (
    DIAGRAMS,
    DOCUMENT,
    AgentTable,
    Answers,
    Certificate,
    Claim,
    Entry,
    Follower,
    Induction,
    LeftOut,
    Named,
    Shown,
    Source,
    ViewsCertificate,
    in_use,
    is_plain,
    remembering,
)
from stead_sym.certificate.files import write_document
from stead_sym.certificate.prove import Prover
from stead_sym.deployment.deployment import Deployment, print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Spec
from stead_sym.engines.symbolic.bdd.manager import at_work
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.errors import InputError
from stead_sym.logic.names import is_name
from stead_sym.logic.printer import print_formula
from stead_sym.relational.instance import Fact
from stead_sym.support.extras import own_version
from stead_sym.verification.audit import leaps_in_words
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict


@at_work()
def write_certificate(result: Verification | Deepening, directory: str | Path) -> Path:
    """Write the certificate of a result into a directory, which is created if needed, and return its path.

    The result is a verification, or what deepening proved for an arbitrary number of records. Raise
    `InputError` if there is nothing to certify: for verdicts of the explicit engine, and if all are
    `unknown`. Specifications whose verdict is `unknown` are left out.
    """
    if isinstance(result, Deepening):
        return write_views(result, directory)
    engine = result.explored
    if engine is not None and not isinstance(engine, SymbolicEngine):
        raise InputError("certificates are written by the symbolic engine; leave out --engine explicit")
    why = uncertifiable(result)
    if engine is None or why:
        raise InputError(f"no certificate can be written: {why}")
    decided = {name: v for name, v in result.verdicts.items() if _is_certifiable(result.deployment, v)}
    engine.meets_contexts(None)
    model, deployment = engine.checker.model, result.deployment
    sets = Sets()
    checker = Checker(model, deployment.fair) if deployment.fair_actions else engine.checker
    prover = Prover(checker, sets)
    written = _without_questions(deployment.unfollowed)
    claims = []
    for name, verdict in decided.items():
        assert verdict.holds is not None
        formula = deployment.spec(name).formula
        proof, bounds = prover.prove(formula, verdict.holds)
        text = _text_of(deployment, verdict.formula, formula)
        named = name if is_plain(name) else text  # a question may have comments and line breaks
        claims.append(Claim(named, text, "holds" if verdict.holds else "fails", proof, bounds))
    fair = prover.fair()
    converter = Converter(model.encoding, model.restriction.members)
    diagrams = converter.diagrams(sets, model.reached, model.encoding.care)
    certificate = Certificate(
        package=own_version(),
        deployment=Source.of(deployment.name, _source(written)),
        mode=result.mode,
        domain=dict(model.restriction.values),
        named=tuple(_named(model)),
        static=tuple(sorted(model.encoding.static)),
        facts=converter.facts,
        order=tuple(_order(model, converter)),
        agents=tuple(_tables(deployment, model.wrappers)),
        reached=len(sets.functions),
        within=len(sets.functions) + 1,
        fair=fair,
        claims=tuple(claims),
        asked=deployment.history.asked,
        gates=deployment.gated,
        calls=deployment.called,
    )
    path = prepare(directory)
    try:
        write_document(path, certificate)
        write_diagrams(path / DIAGRAMS, diagrams)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another directory") from None
    return path


def write_views(found: Deepening, directory: str | Path) -> Path:
    """Write the certificate of what deepening proved for an arbitrary number of records; return its path.

    Raise `InputError` if there is nothing to certify. Verdicts that are not proved in this way are left out.
    """
    if why := uncertifiable_views(found):
        raise InputError(f"no certificate can be written: {why}")
    deployment = found.deployment
    claims: list[Shown] = []
    inductions: dict[tuple[int, Proof, frozenset[Facts], tuple[str, ...], str], list[int]] = {}
    for name, (shown, proof) in _certifiable(found).items():
        verdict = found[name]
        formula = deployment.spec(name).formula
        text = _text_of(deployment, verdict.formula, formula)
        claims.append(Shown(name if is_plain(name) else text, text))
        alone = name if proof.watched else ""
        same = shown.k, proof, proof.views, shown.invariants, alone
        inductions.setdefault(same, []).append(len(claims) - 1)
    followed = {name for _, proof, *_ in inductions for name in proof.followed}
    certificate = ViewsCertificate(
        package=own_version(),
        deployment=Source.of(deployment.name, _source(_without_questions(deployment))),
        agents=tuple(_followers(found, followed)),
        claims=tuple(claims),
        inductions=tuple(
            Induction(
                k,
                invariants,
                _views(proof),
                tuple(shown),
                bool(proof.watched),
                proof.constants,
                _answers(proof),
                *_slice(proof),
                proof.without_bounds,
                _left_out(proof.left_out),
                _left_out(proof.left_out_of_slice),
            )
            for (k, proof, _, invariants, _), shown in inductions.items()
        ),
        gates=deployment.gated,
        calls=deployment.called,
    )
    path = prepare(directory)
    try:
        write_document(path, certificate)
        (path / DIAGRAMS).unlink(missing_ok=True)  # of an earlier certificate
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another directory") from None
    return path


def _left_out(conjuncts: Iterable[Conjunct]) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(one.tool, one.alternative, one.statement, one.conjunct) for one in conjuncts)


def _answers(proof: Proof) -> tuple[Answers, ...]:
    """Return the answers of agents, with sorted contexts."""
    return tuple(
        Answers(
            one.agent,
            dict(one.most),
            tuple(
                sorted(
                    (
                        Entry(tuple(sorted(facts)), tuple(sorted(calls)), tuple(sorted(selected)))
                        for facts, calls, selected in one.contexts
                    ),
                    key=lambda entry: (entry.shown, entry.offered),
                )
            ),
        )
        for one in proof.answers
    )


def _names(proof: Proof) -> dict[str, str]:
    """Return the names in a certificate for relations that the deployment does not have."""
    names = {name: remembering(number) for number, name in enumerate(proof.watched)}
    return names | {name: in_use(sort) for sort, name in proof.using}


def _slice(proof: Proof) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the relations of a slice and the sorts whose used values are recorded, if there is a slice."""
    if proof.kept is None:
        return None, ()
    names = _names(proof)
    return tuple(names.get(name, name) for name in proof.kept), tuple(sort for sort, _ in proof.using)


def _views(proof: Proof) -> tuple[tuple[Fact, ...], ...]:
    """Return the views, with the certificate's names for the relations of a proof."""
    names = _names(proof)
    return tuple(
        sorted(
            tuple(sorted(Fact(names.get(fact.relation, fact.relation), fact.args) for fact in view))
            for view in proof.views
        )
    )


def uncertifiable_views(found: Deepening) -> str:
    """Return why the result of deepening has no certificate; empty if it has one."""
    if _certifiable(found):
        return ""
    if any(one.every_number is not None for one in found.found.values()):
        return "what is shown is shown of an agent by rules that are no policy of the deployment"
    return "nothing of what is always true is shown for every number of records"


def _certifiable(found: Deepening) -> dict[str, tuple[EveryNumberShown, Proof]]:
    """Return the specifications that are proved for an arbitrary number of records.

    Those under a policy that is not in the deployment are left out.
    """
    followers = {
        name
        for one in _followers(found, frozenset())
        if one.policy
        for name in found.deployment.agent(one.name).tools
    }
    specs = {spec.name for spec in found.deployment.specs}
    return {
        name: (one.every_number, one.every_number.proof)
        for name, one in found.found.items()
        if name in specs
        and one.every_number is not None
        and one.every_number.proof is not None
        and followers.issuperset(one.every_number.proof.followed)
    }


def _followers(found: Deepening, followed: Set[str]) -> Iterator[Follower]:
    """Yield the policy of each agent, with the tools for which it is applied."""
    for name, wrapper in found.wrappers.items():
        policy = None if wrapper is None else _policy(found.deployment, name, wrapper)
        tools = found.deployment.agent(name).tools
        yield Follower(name, policy, tuple(sorted(followed & set(tools))) if policy else ())


def uncertifiable(result: Verification) -> str:
    """Return why the result has no certificate; empty if it has one.

    A certificate covers all reachable states. It needs some verdict that is not `unknown`, or no
    specifications at all: then R alone is certified.
    """
    if result.broken is not None:
        return f"`{result.broken.claim}` is broken, and a certificate is about all reachable states"
    if result.engine.hidden is not None:
        return "the `fair` lines leave finite runs out, and in a certificate a fair run starts in every state"
    if result.engine.open_leaps:
        return f"{leaps_in_words(result.engine.open_leaps)}, and a certificate is about all reachable states"
    if result.verdicts and all(verdict.holds is None for verdict in result.verdicts.values()):
        return "every verdict is unknown"
    lines, certifiable = result.deployment.fair_actions, partial(_is_certifiable, result.deployment)
    if lines and result.deployment.fair:
        return (
            f"`fair {lines[0]}` stands beside fairness of states: a certificate has no obligations for both"
        )
    if lines and result.verdicts and not any(map(certifiable, result.verdicts.values())):
        return (
            f"under `fair {lines[0]}` only what is always true (`AG` of a first-order sentence) is certified;"
            " leave the line out, and certify what holds without it"
        )
    return ""


def _is_certifiable(deployment: Deployment, verdict: Verdict) -> bool:
    """Return whether the verdict is known and does not depend on fairness of actions."""
    formula = deployment.spec(verdict.spec).formula
    return verdict.holds is not None and not (deployment.fair_actions and always(formula) is None)


def check_directory(directory: str | Path) -> None:
    """Raise `InputError` if no certificate can be written to the directory, as `prepare` does.

    A directory that does not exist is not left behind, because possibly no certificate will be written.
    """
    path = Path(directory)
    missing = [one for one in (path, *path.parents) if not one.exists()]
    prepare(path)
    for one in missing:
        one.rmdir()


def prepare(directory: str | Path) -> Path:
    """Create the directory if it does not exist, and return it.

    Raise `InputError` if it cannot be created or written to, or if it contains another file with the name of
    a certificate's file: only files of certificates are overwritten.
    """
    path = Path(directory)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".stead-sym"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another directory") from None
    for name, start in (
        (DOCUMENT, b'{\n "format": "stead-sym certificate'),
        (DIAGRAMS, b'{\n"level_of_var"'),
    ):
        file = path / name
        if file.exists() and not (file.is_file() and file.read_bytes().startswith(start)):
            raise InputError(f"{file}: is there and no part of a certificate; give another directory")
    return path


def _without_questions(deployment: Deployment) -> Deployment:
    """Return the deployment without the sentences that were asked in addition to its own specifications."""
    own = tuple(spec for spec in deployment.written.specs if not _is_question(spec))
    return replace(deployment, written=replace(deployment.written, specs=own))


def _is_question(spec: Spec) -> bool:
    """Return whether the name is a text of the formula, and not a name that a file can give."""
    return not is_name(spec.name) or (isinstance(spec.formula, fo.Truth) and str(spec.formula) == spec.name)


def _source(deployment: Deployment) -> str:
    """Return the text that the deployment was parsed from, or if it has changed since a printed text."""
    if deployment.text is not None and parse_deployment(deployment.text) == deployment:
        return deployment.text
    return print_deployment(deployment)


def _text_of(deployment: Deployment, written: fo.Resolved, formula: fo.Resolved) -> str:
    """Return the text of a specification, as it was written if that is equivalent."""
    text = print_formula(written)
    return text if deployment.formula(text) == formula else print_formula(formula)


def _named(model: ReachableStates) -> Iterator[Named]:
    """Yield the fresh variables that are named after other variables."""
    naming = model.plan.naming
    for ((tool, number), variable), anchor in naming.anchors.items():
        yield Named(tool, number, variable, anchor.name, naming.names[(tool, number), variable])


def _order(model: ReachableStates, converter: Converter) -> Iterator[str]:
    """Yield the facts in the order of their variables, each value before the first fact of its record."""
    level, encoding = model.manager.level, model.encoding
    beside: dict[str, list[str]] = {}
    for sort, values in model.restriction.values.items():
        for value in values:
            if (bit := encoding.beside(value)) is not None:
                beside.setdefault(bit, []).append(f"{sort}={value}")
            else:
                yield f"{sort}={value}"
    for field in sorted(encoding.fields, key=lambda f: level(f.bits[0])):
        yield from beside.get(field.bits[0], ())
        yield from (fact.key for fact in field.facts if model.restriction.members.issuperset(fact.args))


def _tables(deployment: Deployment, wrappers: Mapping[str, CanonicalWrapper | None]) -> Iterator[AgentTable]:
    """Yield the decision table of each agent."""
    for name, wrapper in wrappers.items():
        if wrapper is None:
            yield AgentTable(name, None, {}, None)
            continue
        policy = _policy(deployment, name, wrapper)
        if wrapper.told and policy is not None:  # contexts with the past are not enumerated
            yield AgentTable(name, policy, dict(wrapper.known), None)
            continue
        entries = tuple(
            Entry(tuple(context.view), tuple(sorted(context.calls)), tuple(sorted(selected)))
            for context, selected in wrapper.decisions
        )
        yield AgentTable(name, policy, dict(wrapper.known), entries)


def _policy(deployment: Deployment, name: str, wrapper: CanonicalWrapper) -> str | None:
    """Return the policy of the deployment that the agent follows; None for any other agent.

    The agent must know the constants that the policy mentions and no others.
    """
    agent, role = wrapper.agent, deployment.agent(name)
    if not isinstance(agent, RuleAgent) or agent.policy not in role.policies:
        return None
    return agent.policy.name if wrapper.rigid == deployment.schema.rigid | agent.constants else None
