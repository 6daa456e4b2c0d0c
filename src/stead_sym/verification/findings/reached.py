"""Findings over the reachable states: runs that fairness leaves out, vacuity, tools that are never called.

Vacuity is that of Beer, Ben-David, Eisner and Rodeh (2001) and Kupferman and Vardi (2003). An occurrence of a
subformula does not affect the verdict if the verdict stays when the occurrence is replaced by the truth value
that makes this verdict harder to obtain. Quantifiers here range over active values. So a part of a body may
be the range of its variable, such as `P(x)` in `forall x. (P(x) -> f)`: without it the formula would be about
other values, and not require more of these. Such a part is kept (`ranges.Missing.ranged`). A premise that
contains more than the range is replaced by its range.

One decision: the largest such occurrence is reported, once. If a simpler cause applies (a premise that is
never true), the finding is about that cause.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import LastStep
from stead_sym.deployment.parts import AgentRole, Policy, Spec
from stead_sym.deployment.printer import print_rule
from stead_sym.deployment.tool import Effect, Tool
from stead_sym.engines.protocol import Engine
from stead_sym.verification.findings.answered import answer_findings, forced_choices, tied_choices
from stead_sym.verification.findings.conditions import can_write_out, changes, enabled
from stead_sym.verification.findings.finding import AcceptedFinding, Finding, Kind
from stead_sym.verification.findings.gates import (
    Reached,
    forbidden,
    gate_findings,
    never_allowed,
    never_met,
    under_gates,
)
from stead_sym.verification.findings.numbers import never_reached
from stead_sym.verification.findings.occurrences import (
    Occurrence,
    Path,
    asks_for_progress,
    constant,
    met,
    occurrences,
    quantifies,
    replaced,
    without_part,
)
from stead_sym.verification.findings.ranges import Missing, changed_by, ranges_of
from stead_sym.verification.findings.starvation import passed_by_idle_agents, starved
from stead_sym.verification.findings.static import implication_for_some, unmentioned
from stead_sym.verification.readings import answer, has_fair_run, left_out

_GONE = (
    "values that leave with a step are not active after it, and no variable stands for them: ask before it,"
    " as in `AG forall x. (P(x) -> AX (did w(x) -> …))`, or check whether it is ever made"
)
"""The remedy for a premise that a step was a call of some value."""

_MAX_REPLACED = 24
"""The largest number of occurrences of a specification that are replaced.

It is a count and not a time, so that the findings are the same on every machine. Each replacement takes at
most as long as the specification itself.
"""

_MAX_PROPOSED = 4
"""The largest number of occurrences of a specification for which an edit is tried, by examining its result.
"""


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings of an examination.

    ``left`` is the number of occurrences that were not tried (`_MAX_REPLACED`), ``emptied`` are the
    specifications that hold vacuously, and ``accepted`` the findings that the file accepts.
    """

    findings: tuple[Finding, ...] = ()
    left: int = 0
    emptied: frozenset[str] = frozenset()
    accepted: tuple[AcceptedFinding, ...] = ()


def nowhere_fair(deployment: Deployment, engine: Engine) -> tuple[Finding, ...]:
    """Return findings on why no fair run starts at any initial state; empty if one does.

    Without a fair run every path quantifier would range over no run, so that `AG false` holds.
    """
    constraints = deployment.fair
    if engine.hidden is None or has_fair_run(engine):
        return ()
    never = [
        Finding(
            "unfair",
            written.span,
            f"the fairness constraint `{written}` is true in no reachable state",
            "correct it, or remove it",
        )
        for written, constraint in zip(deployment.fair, constraints, strict=True)
        if not engine.satisfying(constraint, {})
    ]
    start = "any" if engine.initial > 1 else "the"
    each = "the fairness constraint" if len(constraints) == 1 else "all of the fairness constraints"
    return tuple(never) or (
        Finding(
            "unfair",
            deployment.fair[0].span,
            f"no run from {start} initial state fulfils {each} infinitely often",
            "weaken what `fair` asks for, or let the tools make it true again and again",
        ),
    )


def hiding(deployment: Deployment, engine: Engine, wrappers: Wrappers) -> Iterator[Finding]:
    """Yield the `fair` lines that leave out finite runs: each that does so alone, or else all together."""
    hidden = engine.hidden
    if hidden is None or not has_fair_run(engine):
        return
    alone = [f for f in deployment.fair if not engine.under((f,), deployment.fair_actions).is_fair_everywhere]
    for constraint in alone or deployment.fair[:1]:
        line = f"`fair {constraint}`" if alone else "the `fair` lines together"
        one = engine.under((constraint,), deployment.fair_actions).hidden if alone else hidden
        assert one is not None, "a line that hides nothing is none of these"
        yield Finding(
            "fair hides",
            constraint.span,
            f"{line} leaves out finite runs, with all that goes wrong on them:"
            f" {left_out(one, deployment, wrappers)}",
            "say with `fair event NAME` or `fair tool NAME(…)` what gets its turn again and again, or add to"
            " the line what may stay as it is for ever (`| …`)",
        )


def reached_findings(
    deployment: Deployment,
    engine: Engine,
    specs: Sequence[Spec],
    wrappers: Wrappers,
) -> Examined:
    """Return the findings over the reachable states, except those of `nowhere_fair`.

    For each specification at most `_MAX_REPLACED` occurrences are replaced, each before those that it
    contains.
    """

    def is_reached(sentence: fo.Formula) -> bool:
        return bool(engine.satisfying(sentence, {}))

    findings = [*hiding(deployment, engine, wrappers), *_tools(deployment, engine, wrappers, is_reached)]
    findings += gate_findings(deployment, is_reached)
    if not any(wrappers.values()):
        findings += never_reached(deployment, engine, specs)
    findings += [*forced_choices(wrappers), *tied_choices(wrappers), *answer_findings(wrappers)]
    for role in deployment.agents:
        wrapper = wrappers[role.name]
        if wrapper is not None and isinstance(wrapper.agent, RuleAgent):
            findings += _rules(deployment, engine, role, wrapper.agent)
    untried, emptied = 0, set[str]()
    for spec in specs:
        if (holds := answer(engine, spec.formula).holds) is not None:
            examined = _Vacuity(deployment, engine, spec, holds).examine()
            findings += examined.findings
            untried += examined.left
            emptied |= examined.emptied
    if engine.hidden is None:
        findings += starved(deployment, engine, specs, wrappers)
        findings += passed_by_idle_agents(deployment, engine, specs)
    return Examined(tuple(findings), untried, frozenset(emptied))


# specifications


class _Vacuity:
    """Vacuity of one specification.

    It finds premises that are never true, quantifiers without a value, and occurrences without effect.
    """

    def __init__(self, deployment: Deployment, engine: Engine, spec: Spec, holds: bool) -> None:
        self.deployment = deployment
        self.engine = engine
        self.spec = spec
        self.formula = spec.formula
        self.holds = holds
        self.missing = Missing(deployment)
        self.constrained = bool(deployment.fair or deployment.fair_actions)
        self.gates = under_gates(deployment)
        self.taken: list[Occurrence] = []  # the subject of each finding
        self.trivial: dict[Path, bool] = {}  # occurrences with a vacuous truth value
        self.bodies = [o.path for o in occurrences(self.formula) if implication_for_some(o.formula)]

    def examine(self) -> Examined:
        """Return all findings, with proposed edits.

        For each of the first `_MAX_PROPOSED` vacuous parts of a specification that holds, an edit is tried.
        It is proposed if it leads to no other finding.
        """
        examined = self.findings()
        findings = list(examined.findings)
        vain = [n for n, finding in enumerate(findings) if self.holds and finding.kind == "vacuous"]
        for number in vain[:_MAX_PROPOSED]:
            occurrence = self.taken[number]
            others = Counter(f.kind for n, f in enumerate(findings) if n != number)
            findings[number] = self._proposing(findings[number], occurrence, others)
        return replace(examined, findings=tuple(findings))

    def findings(self) -> Examined:
        """Return all findings, without edits."""
        findings: list[Finding] = []
        tried = untried = 0
        for cause in (self._without_value, self._without_premise, self._without_effect):
            for occurrence in occurrences(self.formula):
                if self._said(occurrence):
                    continue
                if cause == self._without_effect and self._replacement(occurrence) is not None:
                    tried += 1
                    if tried > _MAX_REPLACED:
                        untried += 1
                        continue
                if (finding := cause(occurrence)) is not None:
                    findings.append(finding)
                    self.taken.append(occurrence)
        empty = self.holds and constant(self.formula, self.trivial)
        return Examined(tuple(findings), untried, frozenset([self.spec.name] if empty else ()))

    def _said(self, occurrence: Occurrence) -> bool:
        """Return True if a finding already explains why the occurrence has no effect.

        It is about a part or a context of the occurrence, or about an `exists` around it whose body is an
        implication.
        """
        path = occurrence.path
        if any(path != other and path[: len(other)] == other for other in self.bodies):
            return True
        taken = (one.path for one in self.taken)
        return any(path[: len(other)] == other or other[: len(path)] == path for other in taken)

    def _finding(self, kind: Kind, occurrence: Occurrence, text: str, remedy: str) -> Finding:
        place = occurrence.place or self.spec.span
        return Finding(kind, place, f"{self.spec.name} {self._word}: {text}", remedy, self.spec.name)

    @property
    def _word(self) -> str:
        return "holds" if self.holds else "fails"

    def _without_value(self, occurrence: Occurrence) -> Finding | None:
        """Return a finding if a quantifier's sort is never active, or not in an initial state."""
        quantified = occurrence.formula
        if not isinstance(quantified, fo.Quantified):
            return None
        binder = quantified.binder
        sort = binder.sort
        if isinstance(quantified, fo.Count):
            word = f"{quantified.comparison} {quantified.number}"
        else:
            word = "exists" if isinstance(quantified, fo.Exists) else "forall"
        shown = fo.WILDCARD if binder.wild else f"{word} {binder.name}"
        ever = bool(self.engine.satisfying(fo.Exists(binder, fo.TRUE), {}))
        nothing = isinstance(quantified, fo.Forall) or (
            isinstance(quantified, fo.Count) and (quantified.number == 0 or quantified.comparison == "atmost")
        )
        if not ever:
            self.trivial[occurrence.path] = nothing
            return self._finding(
                "no value", occurrence,
                f"no reachable state holds a value of {sort}{self.gates}, so `{shown}` ranges over nothing",
                f"let some tool or `init` bring in a value of {sort}",
            )  # fmt: skip
        around = occurrence.above
        if any(isinstance(f, fo.Temporal) for f in around) or not self.engine.holds(
            fo.Not(fo.Exists(binder, fo.TRUE))
        ):
            return None
        if isinstance(quantified, fo.Forall) or all(isinstance(f, fo.Quantified) for f in around):
            self.trivial[occurrence.path] = nothing
            prefix = "…" if binder.wild else f"{shown}. …"
            remedy = (
                f"write `AG {prefix}` to speak of every state"
                if isinstance(quantified, fo.Forall)
                else f"write `EF {prefix}` or `AG …` to speak of the states that have one"
            )
            return self._finding(
                "no value initially", occurrence,
                f"the initial state holds no value of {sort}, so `{shown}` ranges over nothing there", remedy,
            )  # fmt: skip
        return None

    def _without_premise(self, occurrence: Occurrence) -> Finding | None:
        """Return a finding if the premise of an implication is never true where the implication is evaluated.

        `P -> false` is another way to write `~P`, and no finding.
        """
        match occurrence.formula:
            case fo.Implies(fo.Truth(), _) | fo.Implies(_, fo.Truth(False)):
                return None
            case fo.Implies(left, _) if occurrence.polarity == 1:
                premise = occurrence.inside[0]
                if not answer(self.engine, fo.Not(met(premise))).holds:  # it is met from some initial state
                    return None
                self.trivial[occurrence.path] = True
                if self.constrained and not self.engine.under((), ()).holds(fo.Not(met(premise))):
                    return self._finding(
                        "premise never true", occurrence,
                        f"the premise `{left}` is true on no fair run{self.gates}",
                        "check what the `fair` lines ask for: some run that is not fair meets it",
                    )  # fmt: skip
                kept = self.deployment.history.kept
                steps = {
                    k.relation.name for k in kept if isinstance(k, LastStep) and k.places and not k.refused
                }
                return self._finding(
                    "premise never true", occurrence,
                    f"the premise `{left}` is true at no reachable state{self.gates}",
                    _GONE if steps.intersection(fo.relations_in(left))
                    else "check the names and values in it, and whether the agent ever gets there",
                )  # fmt: skip
            case _:
                return None

    def _without_effect(self, occurrence: Occurrence) -> Finding | None:
        """Return a finding if the occurrence does not affect the verdict."""
        by = self._replacement(occurrence)
        if by is None or answer(self.engine, self._with(occurrence, by)).holds != self.holds:
            return None
        part = occurrence.formula
        premise = isinstance(occurrence.above[-1], fo.Implies) and occurrence.path[-1] == 0
        name = f"the premise `{part}`" if premise else f"`{part}`"
        return self._finding(
            "vacuous", occurrence,
            f"{name} does not matter: with `{by}` in its place the specification still {self._word}"
            f"{self.gates}{self._empty(occurrence.above[-1])}",
            "ask for more" if self.holds else "look for the reason in the rest of it",
        )  # fmt: skip

    def _empty(self, formula: fo.Formula) -> str:
        """Return, as the end of a sentence, the relations in the formula that are always empty."""
        schema, empty = self.deployment.schema, list[str]()
        for relation in (one for one in fo.relations_in(formula) if one not in schema.telling):
            binders = [fo.Binder(f"x{k}", sort) for k, sort in enumerate(schema.relation(relation).sorts)]
            fact: fo.Formula = fo.Atom(relation, fo.variables_of(binders))
            for binder in binders:
                fact = fo.Exists(binder, fact)
            if not self.engine.satisfying(fact, {}):
                empty.append(relation)
        return f"; no reachable state has a fact of {' or '.join(empty)}" if empty else ""

    def _edit(self, occurrence: Occurrence, by: fo.Formula) -> tuple[str, fo.Formula] | None:
        """Return words that propose the specification without a vacuous occurrence, and that specification.

        The result is None if there is no simpler one.
        """
        path, parent = occurrence.path, occurrence.above[-1]
        if not isinstance(by, fo.Truth):
            return "write that", self._with(occurrence, by)
        simpler = without_part(parent, path[-1], by.value)
        if simpler is None:
            return None
        edited = replaced(self.formula, path[:-1], simpler)
        if isinstance(parent, fo.Or) or (isinstance(parent, fo.Implies) and path[-1] == 0):
            return "leave it out", edited
        return f"write `{simpler}` for `{parent}`", edited

    def _proposing(self, finding: Finding, occurrence: Occurrence, others: Counter[Kind]) -> Finding:
        """Return the finding on a vacuous occurrence, with a proposed edit if there is a suitable one.

        The edit must not cause findings on quantifiers, nor leave a kind of finding that the ``others`` lack.
        """
        by = self._replacement(occurrence)
        assert by is not None, "it has been replaced"
        if (edit := self._edit(occurrence, by)) is None:
            return finding
        words, edited = edit
        if any(map(operator.gt, self._troubles(edited), self._troubles(self.formula))):
            return finding
        spec = replace(self.spec, formula=edited)
        after = _Vacuity(self.deployment, self.engine, spec, self.holds).findings()
        if Counter(one.kind for one in after.findings) - others or after.left:
            return finding
        return replace(finding, remedy=f"{finding.remedy}, or {words}")

    def _troubles(self, formula: fo.Formula) -> tuple[int, int]:
        """Return how many quantifiers of the formula miss values, and how many have an unused variable."""
        return len(self.missing.parts(formula)), sum(1 for _ in unmentioned(formula))

    def _with(self, occurrence: Occurrence, by: fo.Formula) -> fo.Formula:
        return replaced(self.formula, occurrence.path, by)

    def _replacement(self, occurrence: Occurrence) -> fo.Formula | None:
        """Return the formula that makes the verdict harder to obtain, or None if no replacement is tried.

        It is a truth value, or what a premise requires as the range of its variables. The whole
        specification, truth values, and occurrences of mixed polarity (under `<->`, in the body of `exactly`)
        are not replaced: for the last, neither value is the harder one. Nor are parts that only make a
        specification more cautious than necessary, which do not make it vacuous:

        - one part of a conjunction that `true` would replace (a premise with fewer conjuncts suffices);
          if the specification fails, one part of a disjunction that `false` would replace (one of several
          reasons);
        - the premise of an implication that restricts when something is awaited or possible: the conclusion
          has temporal operators that are not all about all runs, or that ask for progress;
        - the range of a variable (`ranges`).

        No replacement is tried twice: the body of `~`, of a temporal operator with one body and of `exists`
        affects the verdict as the whole does. So does the body of `forall`, unless `false` there reveals that
        there are no values.
        """
        if not occurrence.above or not occurrence.polarity or isinstance(occurrence.formula, fo.Truth):
            return None
        by = (occurrence.polarity < 0) == self.holds
        premise = isinstance(occurrence.above[-1], fo.Implies) and occurrence.path[-1] == 0
        match occurrence.above[-1]:
            case fo.Not() | fo.Next() | fo.Future() | fo.Globally() | fo.Exists():
                return None
            case fo.Forall() if by or not self.holds:
                return None
            case fo.And() if by:
                return None
            case fo.Or() if not by and not self.holds:
                return None
            case fo.Implies(_, right) if premise and (asks_for_progress(right) or not quantifies(right, "A")):
                return None
        if not (variables := self.missing.ranged(occurrence, fo.Truth(by))):
            return fo.Truth(by)
        asked = ranges_of(occurrence.formula, variables) if premise else occurrence.formula
        whole = set(fo.conjuncts(asked)) == set(fo.conjuncts(occurrence.formula))
        return None if whole or self.missing.ranged(occurrence, asked) else asked


# tools and policies


def _tools(
    deployment: Deployment, engine: Engine, wrappers: Wrappers, is_reached: Reached
) -> Iterator[Finding]:
    offers = {
        tool.name: engine.is_called(tool.name, fo.TRUE, selected=False)
        for tool in deployment.tools_and_events
    }
    avoided = [
        tool
        for tool in deployment.tools
        if offers[tool.name] and not engine.is_called(tool.name, fo.TRUE, selected=True)
    ]
    refused = never_allowed(deployment, is_reached)
    for tool in deployment.tools_and_events:
        callers = [wrappers[role.name] for role in deployment.agents if tool.name in role.tools]
        agent = " or ".join("any agent" if w is None else w.agent.name for w in callers)
        offered = "enabled" if tool.event else "offered"
        if not tool.is_written:
            continue
        if not offers[tool.name]:
            read = fo.relations_in(tool.guard)
            before = [other.name for other in avoided if not set(changed_by(other)).isdisjoint(read)]
            why = (
                f": its guard reads what {' and '.join(before)} would change, which no agent selects"
                if before
                else ""
            )
            mend = "verify an agent that gets there; or " if before else ""
            gates = () if tool.event else deployment.gated
            behind = f" behind {' and '.join(gates)}" if gates else ""
            yield Finding(
                "never offered",
                tool.span,
                f"{tool.name} is {offered} in no reachable state{behind}{why}",
                f"{mend}let a gate allow it where its guard is true, or remove the tool"
                if tool.name in refused
                else f"{mend}weaken its guard, let some effect make it true, or remove the tool",
            )
        elif tool in avoided:
            yield Finding(
                "never selected",
                tool.span,
                f"{tool.name} is offered, but {agent} never selects it",
                "the verdicts say nothing about what it does; verify another agent (`--agent any`) for that",
            )
        else:
            for number, effect in enumerate(tool.effects, 1):
                yield from _alternative(deployment, engine, tool, number, effect)


def _alternative(
    deployment: Deployment, engine: Engine, tool: Tool, number: int, effect: Effect
) -> Iterator[Finding]:
    """Yield a finding if the alternative never applies, or changes no state.

    An alternative without statements is meant to change none. For an `ensure` only the first is checked.
    """
    name = tool.name if len(tool.effects) == 1 else f"alternative {number} of {tool.name}"
    constants = {sort: deployment.constants[sort] for sort in deployment.schema.infinite_sorts}
    nobody = dict.fromkeys(constants, ())
    place = effect.span or tool.span

    def happens(active: fo.Formula, everything: fo.Formula) -> bool:
        if engine.is_called(tool.name, active, selected=True):
            return True
        if not can_write_out(effect, constants):
            return True  # it is not known if it happens
        return active != everything and engine.is_called(tool.name, everything, selected=True)

    if not happens(enabled(effect, nobody), enabled(effect, constants)):
        yield Finding(
            "never enabled",
            place,
            f"{name} applies in no reachable state in which the tool is called",
            "weaken its `when` and what its `choose` lines ask for, or remove it",
        )
    elif effect.statements:
        active = changes(effect, deployment.schema, nobody)
        everything = changes(effect, deployment.schema, constants)
        if active is not None and everything is not None and not happens(active, everything):
            or_none = "; write `effect` alone if it is to change nothing" * (len(tool.effects) > 1)
            yield Finding(
                "no change",
                place,
                f"{name} changes no reachable state in which the tool is called",
                "check which facts it inserts and deletes, and whether the guard asks for them already"
                + or_none,
            )


def _rules(deployment: Deployment, engine: Engine, role: AgentRole, agent: RuleAgent) -> Iterator[Finding]:
    """Yield rules that match no call in any context, or only together with an earlier rule."""
    rules, used = agent.policy.rules, engine.rules_used(role.name)
    written = next((p.rules for p in _written_policies(deployment, role) if p.name == agent.name), rules)
    whose = f" of agent {role.name}" if role.name else ""
    for k, rule in enumerate(rules):
        shown = print_rule(written[k] if len(written) == len(rules) else rule)
        line = f"`{shown}` of policy {agent.name}{whose}"
        if k not in used.matching and forbidden(deployment, engine, role, rule):
            continue  # the gates are meant to stop its calls
        if k not in used.matching:
            parts = tuple(fo.conjuncts(rule.when))
            variants = [replace(rule, when=part) for part in (fo.TRUE, *parts)]
            called, *true = (
                n in engine.rules_used(role.name, variants).matching for n in range(len(variants))
            )
            why = never_met("no such call is offered", parts if called else (), true)
            yield Finding(
                "rule never matches",
                rule.span,
                f"{line} matches no call in any context that the agent is shown: {why}",
                "check what its `when` asks of the view, or remove it",
            )
        elif k not in used.deciding:
            yield Finding(
                "rule never selects",
                rule.span,
                f"{line} never selects: wherever it matches, an earlier line does too",
                "move it up, narrow the earlier ones, or remove it",
            )


def _written_policies(deployment: Deployment, role: AgentRole) -> tuple[Policy, ...]:
    """Return the policies that an agent can be given, as they were written."""
    own = (agent.policies for agent in deployment.written.agents if agent.name == role.name)
    return (*next(own, ()), *deployment.written.policies)
