"""Findings on the text of a deployment, which need no exploration.

One decision: each formula is examined as written, uses of `define` included, so that every finding has its
position. Findings on the notation of a formula (its parentheses) need the text that it was parsed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import ANY, Parts, Policy, View
from stead_sym.deployment.printer import print_rule
from stead_sym.deployment.tool import Assign, Choose, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.errors import Span
from stead_sym.verification.findings.events import endless_events, keys_at_risk, no_room_initially
from stead_sym.verification.findings.filled import never_filled
from stead_sym.verification.findings.finding import Finding, in_order, without_accepted
from stead_sym.verification.findings.numbers import constant_comparisons
from stead_sym.verification.findings.ranges import misses_inactive, reads_once_ever


def lint(deployment: Deployment) -> tuple[Finding, ...]:
    """Return the findings that need no exploration, in the order of their positions.

    They report:

    - a define that is not used;
    - a quantified variable that its body does not mention (`exists x: s. true` is no finding: it means that
      some value of the sort is active);
    - a variable with the name of a constant, which then cannot be named there;
    - a policy rule that mentions a constant that is not rigid: this policy knows it by name (its wrapper
      does not rename it), but a language model would be shown another name in its place;
    - a relation that a specification reads and nothing fills (`filled`);
    - a policy rule that reads a relation of which the agent is shown nothing;
    - `exists x. f -> g`, true as soon as some value does not satisfy f;
    - a negated quantifier whose scope includes a connective without parentheses (`~exists x. f & g`);
    - a quantifier over a finite sort whose inactive values would make a difference (`ranges`);
    - a specification that reads like "never again" of values that may return (`ranges`);
    - an event that may happen for ever, if a specification asks for progress (`events`);
    - an insertion into a relation with a key that may add a second fact with the same one (`events`);
    - `initially any` of a relation over a sort whose bound is 0 (`events`);
    - a comparison of integers that is constant (`numbers`);
    - a specification that is `for` agents and policies which no verification has together;
    - a gate that only forbids and does not say what it does with other calls.
    """
    return without_accepted(deployment, of_text(deployment))[0]


def of_text(deployment: Deployment) -> tuple[Finding, ...]:
    """Return the same findings, including those that a comment of the file accepts."""
    deployment = deployment.unfollowed  # formulas below an operator of the past are examined too
    return in_order(
        (
            *_unused_definitions(deployment),
            *_unused_variables(deployment),
            *_gate_variables(deployment),
            *_shadowed_constants(deployment),
            *_known_constants(deployment),
            *never_filled(deployment),
            *_hidden_relations(deployment),
            *_exists_implies(deployment),
            *_reaching_negations(deployment),
            *misses_inactive(deployment),
            *reads_once_ever(deployment),
            *endless_events(deployment),
            *keys_at_risk(deployment),
            *no_room_initially(deployment),
            *constant_comparisons(deployment),
            *_never_asked(deployment),
            *_without_default(deployment),
        )
    )


def _tool_formulas(tool: Tool) -> Iterator[fo.Formula]:
    yield tool.guard
    for effect in tool.effects:
        yield effect.when
        for statement in effect.statements:
            match statement:
                case Choose(_, where) | Insert(_, _, where) | Delete(_, _, where) | Assign(_, _, where):
                    yield where
                case Ensure(formula):
                    yield formula
                case _:
                    pass


def _formulas(parts: Parts) -> Iterator[fo.Resolved]:
    yield from (definition.body for definition in parts.definitions)
    for tool in parts.tools:
        yield from _tool_formulas(tool)
    yield from (view.where for view in _views(parts))
    yield from (rule.when for policy in _policies(parts) for rule in policy.rules)
    yield from (line.where for line in parts.initially)
    yield from (line.when for line in parts.terminal)
    yield from (line.when for gate in parts.gates for line in gate.lines)
    yield from parts.fair
    yield from (spec.formula for spec in parts.specs)


def _views(parts: Parts) -> Iterator[View]:
    """Yield the views of the file and of its agents."""
    yield from parts.views
    yield from (view for agent in parts.agents for view in agent.views)


def _policies(parts: Parts) -> Iterator[Policy]:
    """Yield the policies of the file and of its agents."""
    yield from parts.policies
    yield from (policy for agent in parts.agents for policy in agent.policies)


def _subformulas(d: Deployment) -> Iterator[fo.Resolved]:
    """Yield every formula of the deployment and its subformulas, as written."""
    return (part for formula in _formulas(d.written) for part in fo.subformulas(formula))


def _unused_definitions(d: Deployment) -> Iterator[Finding]:
    used = {part.definition for part in _subformulas(d) if isinstance(part, fo.Use)}
    for definition in d.written.definitions:
        if definition.name not in used:
            yield Finding(
                "unused define", definition.span, f"the define {definition.name} is not used", "remove it"
            )


def _without_default(d: Deployment) -> Iterator[Finding]:
    for gate in d.written.gates:
        if gate.lines and gate.default is None and not gate.denies:
            yield Finding(
                "no default",
                gate.span,
                f"gate {gate.name} only forbids, so that it allows every other call; the same rules in Cedar"
                " allow none, since what nothing permits is denied there",
                f"write `gate {gate.name} default allow`, or `default deny` and `permit` lines",
            )


def _unused_variables(d: Deployment) -> Iterator[Finding]:
    for formula in _formulas(d.written):
        for part in unmentioned(formula):
            name = part.binder.name
            yield Finding(
                "unused variable",
                part.binder.span or part.span,
                f"the body does not mention {name}, so {name} only matters in that it asks for active "
                f"values of {part.binder.sort}",
                "use the variable or remove it",
            )


def unmentioned(formula: fo.Formula) -> Iterator[fo.Quantified]:
    """Yield the quantifiers in the formula whose body does not mention the variable."""
    quantified = (part for part in fo.subformulas(formula) if isinstance(part, fo.Quantified))
    for part in quantified:
        if not isinstance(part.body, fo.Truth) and part.binder.name not in fo.free_variables(part.body):
            yield part


def _effect_binders(effect: Effect) -> Iterator[fo.Binder]:
    for statement in effect.statements:
        match statement:
            case Choose(binder) | Fresh(binder):
                yield binder
            case Insert(_, binders) | Delete(_, binders) | Assign(_, binders):
                yield from binders
            case _:
                pass


def _binders(d: Deployment) -> Iterator[fo.Binder]:
    """Yield every variable that the deployment declares."""
    for definition in d.written.definitions:
        yield from definition.params
    for tool in d.written.tools:
        yield from tool.params
        for effect in tool.effects:
            yield from _effect_binders(effect)
    for view in _views(d.written):
        yield from view.params
    yield from (part.binder for part in _subformulas(d) if isinstance(part, fo.Quantified))


def _gate_variables(d: Deployment) -> Iterator[Finding]:
    """Yield arguments of a gate's line that it mentions once; a misspelt constant is one of these."""
    for gate in d.written.gates:
        for line in gate.lines:
            named = [term.name for term in line.args if isinstance(term, fo.Var)]
            for term in line.args:
                if (
                    isinstance(term, fo.Var)
                    and named.count(term.name) == 1
                    and term.name not in fo.free_variables(line.when)
                ):
                    yield Finding(
                        "unused variable",
                        term.span or line.span,
                        f"the variable {term.name} of this line stands for any value, and nothing else in the"
                        " line mentions it",
                        "write `_`, or a constant if that is meant",
                    )


def _never_asked(d: Deployment) -> Iterator[Finding]:
    """Yield specifications for several names that no verification has together.

    Examples are `any` beside a policy or an agent, and more policies than agents can run at once.
    """
    known = [{policy.name for policy in role.policies} for role in d.agents]
    policies = set[str]().union(*known)
    named = {role.name for role in d.agents}
    for spec in d.written.specs:
        run = [name for name in dict.fromkeys(spec.whom) if name in policies]
        decided = ANY not in spec.whom or not (run or named.intersection(spec.whom))
        some = any(
            all(name in own for name, own in zip(run, order, strict=False))
            for order in permutations(known, len(run))
        )
        if not (decided and some):
            yield Finding(
                "never asked",
                spec.span,
                f"{spec.name} is for {', '.join(spec.whom)}, which no verification is at once",
                "leave a name out, or write a specification for each",
            )


def _shadowed_constants(d: Deployment) -> Iterator[Finding]:
    for binder in _binders(d):
        if binder.name in d.sort_of_constant:
            yield Finding(
                "shadowed constant",
                binder.span,
                f"the variable {binder.name} has the name of a constant of sort "
                f"{d.sort_of_constant[binder.name]}",
                "give it another, or write the constant in the formula",
            )


def _known_constants(d: Deployment) -> Iterator[Finding]:
    unsteady = d.sort_of_constant.keys() - d.schema.rigid
    for policy in _policies(d.written):
        for rule in policy.rules:
            inside = (term for part in fo.subformulas(rule.when) for term in fo.terms(part))
            for constant in (*rule.args, *inside):
                if isinstance(constant, fo.Const) and constant.value in unsteady:
                    yield Finding(
                        "known constant",
                        constant.span or rule.span,
                        f"{constant.value} is not rigid: policy {policy.name} knows it by name, but a "
                        "language model is shown another in its place",
                        "make its sort rigid or leave it out",
                    )


def _hidden_relations(d: Deployment) -> Iterator[Finding]:
    """Yield rules that read a relation of which no view line of the agent shows anything.

    A policy of the file is for any agent: it is examined if the file has no agents of its own.
    """
    written = {agent.name: agent.policies for agent in d.written.agents} or {"": d.written.policies}
    for agent in d.agents:
        shown = {line.relation for line in agent.views}
        for policy, whole in zip(written[agent.name], agent.policies, strict=False):
            for rule, expanded in zip(policy.rules, whole.rules, strict=True):
                for relation in fo.relations_in(expanded.when):
                    if shown and relation not in shown:
                        yield Finding(
                            "hidden relation",
                            rule.span,
                            f"`{print_rule(rule)}` of policy {policy.name} reads {relation}, of which no view"
                            " line shows anything: it is always empty there",
                            f"add a `view {relation}(…)` line, or ask about something that is shown",
                        )


def implication_for_some(formula: fo.Formula) -> tuple[fo.Binder, fo.Implies] | None:
    """Return x and f -> g of a formula `exists x. f -> g` such that f mentions x; None for any other."""
    match formula:
        case fo.Exists(binder, fo.Implies(left, _) as body) if binder.name in fo.free_variables(left):
            return binder, body
        case _:
            return None


def _exists_implies(d: Deployment) -> Iterator[Finding]:
    for part in _subformulas(d):
        if found := implication_for_some(part):
            binder, body = found
            yield Finding(
                "exists implies",
                part.span,
                f"`{part}` is true as soon as `{body.left}` is false for some {binder.name}, whatever"
                f" `{body.right}` is",
                "write `exists x. f & g`, or `forall x. f -> g`",
            )


def _reaching_negations(d: Deployment) -> Iterator[Finding]:
    if d.text is None:
        return
    text, starts = d.text, _line_starts(d.text)
    for part in _subformulas(d):
        match part:
            case fo.Not(fo.Exists(_, body) | fo.Forall(_, body)):
                while isinstance(body, fo.Exists | fo.Forall):
                    body = body.body
                begin, end = (_offset(f.span, starts) for f in (part, body))
                connective = isinstance(body, fo.Connective)
                if (
                    connective
                    and begin is not None
                    and end is not None
                    and text.startswith(("~", "!", "not"), begin)  # the formula may be from a different text
                    and "(" not in text[begin:end]
                ):
                    yield Finding(
                        "reaching negation",
                        part.span,
                        "the negation takes in everything after the quantifier, connectives included",
                        "write `~exists x. (f & g)`, or `(~exists x. f) & g` if that is meant",
                    )
            case _:
                pass


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _offset(span: Span | None, starts: list[int]) -> int | None:
    return None if span is None or span.line >= len(starts) else starts[span.line - 1] + span.column - 1
