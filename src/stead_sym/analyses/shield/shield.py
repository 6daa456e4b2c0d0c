"""Synthesis of the most permissive restriction of all agents such that specifications hold.

There is one for conjunctions of AG ψ such that ψ has path quantifiers E only and none below a negation. There
is also one for A[f W g] of first-order sentences f, g, which is equivalent to AG (f | once g). Removing a
transition never makes such a ψ true that was false, so that of all restrictions that keep AG ψ there is a
largest one. AF has none in general: each number of steps by which the goal is delayed is a restriction of its
own, and their union delays it for ever.

Definition. Under the agent that selects everything offered let Win be what `check.winning` computes for the
demands of the specifications. The shield allows a call in a state of Win if all its outcomes are in Win. It
is unique, and every restriction of the agents that keeps the specifications allows no other call in the
states that it reaches.

It lifts to the infinite domain. Renaming values commutes with events, calls and outcomes, and with the
demands, which have no constants outside of C. So the operator of the fixpoint maps sets that are closed under
renaming to such sets, and Win is one. Therefore the membership of D in Win depends on D only up to renaming,
and R ↾ U_f has a state for each of these classes (the theorem that verdicts rest on).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import ANY, AgentLike, deciding, wrap_all
from stead_sym.analyses.shield.cedar import CedarRules, cedar_rules
from stead_sym.analyses.shield.conditions import conditions
from stead_sym.analyses.shield.guards import Separating, distinct_literals, negated
from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.offered import says_offered
from stead_sym.deployment.parts import Gate, Line
from stead_sym.deployment.printer import print_gate
from stead_sym.deployment.tool import Tool
from stead_sym.deployment.trace import Trace
from stead_sym.engines.symbolic.bdd.manager import Bdd, at_work
from stead_sym.engines.symbolic.check.winning import Winning
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import DeclarationError, InputError
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.logic.substitution import fresh_name
from stead_sym.support.progress import Progress
from stead_sym.verification.options import Domain
from stead_sym.verification.result import Verification
from stead_sym.verification.verify import verify

_INSTEAD = "write `AG (p -> EF q)`, that the goal can always be reached"


@dataclass(frozen=True, slots=True)
class Guarded:
    """One tool behind the shield.

    Over the states that the shield reaches, ``enabled`` and ``allowed`` are the numbers of calls.
    ``condition`` on its parameters is that for a call to be allowed, or None if no condition was found that
    is equal to it.
    """

    tool: str
    enabled: int
    allowed: int
    condition: fo.Formula | None

    @property
    def denied(self) -> int:
        """The number of calls that are not allowed."""
        return self.enabled - self.allowed


@dataclass(frozen=True)
class Shield:
    """The result for the specifications ``kept``.

    ``left`` are those that have no largest restriction, each with the reason. ``states`` are reachable under
    any agent, ``won`` of them are in Win, and ``reached`` are reachable behind the shield. If an initial
    state is not in Win there is no shield: ``lost`` is a run that shows it. ``gate`` implements the shield;
    it is None if nothing is denied, and if some tool has no condition. ``verified`` has the specifications,
    including those that are ``left``, behind that gate under any agent. ``stopped``, if an ``agent`` was
    given, are the tools of which the agent makes, without the gate, a call in some reachable state that the
    gate forbids.
    """

    deployment: Deployment
    kept: tuple[str, ...]
    left: Mapping[str, str]
    states: int
    won: int
    reached: int
    tools: tuple[Guarded, ...]
    lost: Trace | None = None
    gate: Gate | None = None
    verified: Verification | None = None
    agent: str | None = None
    stopped: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The gate as lines for the file."""
        return "" if self.gate is None else "\n".join(print_gate(self.gate))

    @cached_property
    def cedar(self) -> CedarRules:
        """The allowed calls as rules of Cedar, over the facts that a caller gives with each request."""
        title = f"Cedar rules: the calls of any agent of {self.deployment.name}, such that"
        conditions = {tool.tool: tool.condition for tool in self.tools}
        return cedar_rules(self.deployment, conditions, f"{title} these hold: {', '.join(self.kept)}")

    @property
    def share(self) -> float:
        """The fraction of the enabled calls that the shield allows."""
        enabled = sum(tool.enabled for tool in self.tools)
        return sum(tool.allowed for tool in self.tools) / enabled if enabled else 1.0


def shield(
    deployment: Deployment,
    specs: Question | Iterable[Question] | None = None,
    *,
    agent: AgentLike | Mapping[str, AgentLike] = ANY,
    name: str = "shield",
    domain: Domain | Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Shield:
    """Return the largest restriction of all agents such that ``specs`` hold.

    By default these are all specifications that have one (`demands`); they are given as to `verify`. ``name``
    is that of the gate. The shield is that of any agent; for the ``agent``, given as to `verify`, the result
    has the calls that the gate would stop.

    Raises what `verify` raises, the `DefinitionError` of a run that breaks a claim of the file, and
    `Undecided` if a hypothesis is missing. Raises `InputError` if a named specification has no largest
    restriction, if none of the file's has, and for a deployment that keeps which agent made a call or in
    which an agent makes several calls in one message. The `fair` lines of the file are left out: the shield
    is about all runs, since fewer transitions may make more of them fair.
    """
    as_deployment(deployment)
    if name != fresh_name(name, {gate.name for gate in deployment.written.gates}):
        raise InputError(f"the file has a gate {name}; give another name")
    if deployment.in_batches:
        raise InputError(
            "a gate is asked of a call when it is written into a message and again when it is carried out, of"
            " which there is no largest one; leave `calls batch` out"
        )
    asking, wanted, left = _wanted(_without_fair(deployment), specs)
    sentences = [fo.Globally("A", demand) for own in wanted.values() for demand in own]
    result = verify(asking, ANY, sentences, domain=domain, progress=progress, findings=False)
    engine = result.engine
    result.hypotheses.require()
    assert isinstance(engine, SymbolicEngine), "`verify` asks the symbolic engine"
    found = _of(result, engine, wanted, left, name)
    if found.gate is None:
        return found
    gates = (*deployment.written.gates, found.gate)
    gated = replace(deployment, written=replace(deployment.written, gates=gates), text=None)
    behind = under_gates(gated, found.gate.name)
    again = verify(behind, ANY, specs, domain=domain, progress=progress, findings=False)
    if asking is deployment:  # without `fair` lines
        assert all(again[spec].holds for spec in wanted), "the gate is the shield"
    found = replace(found, verified=again)
    if not any(wrap_all(deployment, agent).values()):  # any agent
        return found
    own = verify(asking, agent, sentences, domain=domain, progress=progress, findings=False)
    return replace(found, agent=own.agent, stopped=tuple(_stopped(found, own)))


def _stopped(found: Shield, own: Verification) -> Iterator[str]:
    """Yield the tools of which an agent makes a call that the shield denies."""
    for guarded in found.tools:
        if guarded.denied and guarded.condition is not None:
            scope = own.deployment.tool(guarded.tool).scope
            against = own.deployment.formula(negated(guarded.condition), scope)
            if own.engine.is_called(guarded.tool, against, selected=True):
                yield guarded.tool


def _without_fair(deployment: Deployment) -> Deployment:
    if not deployment.fair and not deployment.fair_actions:
        return deployment
    return replace(deployment, written=replace(deployment.written, fair=(), fair_actions=()), text=None)


def _wanted(
    deployment: Deployment, specs: Question | Iterable[Question] | None
) -> tuple[Deployment, Mapping[str, tuple[fo.Expanded, ...]], Mapping[str, str]]:
    """Return the demands per specification, and for the others why they have no largest restriction."""
    asking, asked = deployment.asked(specs, deciding(deployment, ANY))
    wanted: dict[str, tuple[fo.Expanded, ...]] = {}
    left: dict[str, str] = {}
    written = {spec.name: spec.formula for spec in asking.written.specs}
    for spec in asked:
        try:
            if says_offered(written[spec.name], asking.names.definitions):
                raise InputError(
                    "it says `offered`, which the gate changes; write the condition that is meant"
                )
            wanted[spec.name] = tuple(demands(spec.formula, ends=bool(deployment.written.terminal)))
        except InputError as error:
            if specs is not None:
                raise InputError(f"{spec.name} has no shield: {error}", spec.span) from None
            left[spec.name] = str(error)
    if not wanted:
        why = next(iter(left.values()), "the file has no specification; write one")
        raise InputError(f"no specification has a shield: {why}")
    return asking, wanted, left


@at_work()
def _of(
    result: Verification,
    engine: SymbolicEngine,
    kept: Mapping[str, tuple[fo.Expanded, ...]],
    left: Mapping[str, str],
    name: str,
) -> Shield:
    """Return the shield over the states that an engine has reached, for the demands of the specifications."""
    deployment, model = result.deployment, engine.checker.model
    if model.actors.tools:
        tool = min(model.actors.tools)
        raise InputError(
            f"a specification has `did {tool}(…) by`, and a gate cannot read who called; leave `by` out"
        )
    said = [demand for own in kept.values() for demand in own]
    winning = Winning(model, [deployment.told(demand) for demand in said])
    game, manager, bits = winning.last, model.manager, model.encoding.state_bits
    found = Shield(
        deployment=deployment,
        kept=tuple(kept),
        left=MappingProxyType(dict(left)),
        states=engine.states,
        won=manager.count(game.states, bits),
        reached=manager.count(game.reached, bits),
        tools=(),
    )
    if winning.lost != manager.false:
        return replace(found, lost=winning.losing_run())
    tools = [_guarded(deployment, winning, tool, said) for tool in deployment.tools]
    gate = _gate(deployment, [tool for tool in tools if tool.denied], name)
    return replace(found, tools=tuple(tools), gate=gate)


def _guarded(deployment: Deployment, winning: Winning, tool: Tool, demands: Sequence[fo.Expanded]) -> Guarded:
    """Return the effect of the shield on the calls of a tool."""
    model, game = winning.model, winning.last
    offers, manager = model.offers, model.manager
    bits = model.encoding.state_bits | offers.selectors(tool.name)
    allowed, denied = game.allowed[tool.name] & game.reached, game.denied(tool.name) & game.reached
    many = {"allowed": manager.count(allowed, bits), "denied": manager.count(denied, bits)}
    scope = tool.scope

    def read() -> Iterator[tuple[fo.Formula, Bdd, bool]]:
        for text, said in conditions(deployment, tool, demands):
            try:
                formula = resolve(parse_formula(text), deployment.names, scope)
                told = deployment.formula(formula, scope)
            except DeclarationError:  # it mentions steps that the states do not record
                continue
            yield formula, offers.condition(tool.name, told), said

    known = () if denied == manager.false else distinct_literals(manager, allowed | denied, read())
    separating = Separating(manager, allowed, denied, known, lambda calls: manager.count(calls, bits))
    condition = separating.condition
    if condition is not None:
        said = offers.condition(tool.name, deployment.formula(condition, scope))
        assert said & (allowed | denied) == allowed, f"{condition} is what the shield does"
    return Guarded(tool.name, sum(many.values()), many["allowed"], condition)


def _gate(deployment: Deployment, tools: Sequence[Guarded], name: str) -> Gate | None:
    """Return a gate that forbids the calls that the tools' conditions deny.

    The result is None if no call is denied, or if some tool has no condition.
    """
    if not tools:
        return None
    lines: list[Line] = []
    for guarded in tools:
        if guarded.condition is None:
            return None
        against = negated(guarded.condition)
        for reason in against.parts if isinstance(against, fo.Or) else (against,):
            about = fo.free_variables(reason)
            args = tuple(
                fo.Var(param.name) if param.name in about else fo.Wildcard(param.sort)
                for param in deployment.tool(guarded.tool).params
            )
            lines.append(Line(False, guarded.tool, args, reason))
    return Gate(name, tuple(lines), "allow")


def demands(formula: fo.Expanded, *, ends: bool = False) -> Iterator[fo.Expanded]:
    """Yield sentences ψ such that the specification holds if all of them are true in every reachable state.

    ``ends``: a run may end in some states, in which no call remains, so that a restriction creates loops.
    Raises `InputError` for a specification of another form.
    """
    if ends and any(
        isinstance(part, fo.Next | fo.Globally) and part.path == "E" for part in fo.subformulas(formula)
    ):
        raise InputError("where a run may end (`terminal`), a restriction may make EX and EG true; use EF")
    match formula:
        case fo.And(parts):
            for part in parts:
                yield from demands(part)
        case fo.Globally("A", body):
            yield from _always(body)
        case fo.Until("A", left, right, weak=True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield fo.Or((left, fo.Since(fo.TRUE, right)))
        case _ if not fo.is_temporal(formula):
            raise InputError("it speaks of the initial states alone, which no restriction changes")
        case _:
            raise InputError(_why(formula))


def _always(body: fo.Expanded) -> Iterator[fo.Expanded]:
    """Yield the demands of AG ψ."""
    match body:
        case fo.And(parts):
            for part in parts:
                yield from _always(part)
        case fo.Forall(binder, fo.And(parts)):
            for part in parts:
                yield from _always(fo.Forall(binder, part))
        case fo.Globally("A", inner):
            yield from _always(inner)
        case _ if _grows(body):
            yield body
        case _:
            raise InputError(_why(body))


def _grows(formula: fo.Expanded) -> bool:
    """Return True if more transitions never make the formula false, by its structure."""
    if not fo.is_temporal(formula):
        return True
    match formula:
        case fo.And() | fo.Or() | fo.Exists() | fo.Forall() | fo.Count("atleast"):
            return all(map(_grows, fo.children(formula)))
        case fo.Implies(left, right):
            return not fo.is_temporal(left) and _grows(right)
        case fo.Next("E") | fo.Future("E") | fo.Globally("E") | fo.Until("E"):
            return all(map(_grows, fo.children(formula)))
        case _:
            return False


def _why(formula: fo.Expanded) -> str:
    """Return why a formula has no largest restriction, by its structure."""
    for part in fo.subformulas(formula):
        match part:
            case fo.Future("A") | fo.Until("A", weak=False):
                return f"of AF and A[… U …] there is no largest restriction in general; {_INSTEAD}"
            case fo.Next("A") | fo.Globally("A") | fo.Until("A"):
                return "a restriction may make the A within it true; state it as a specification of its own"
            case fo.Not(body) if fo.is_temporal(body):
                return "it has a temporal operator below a negation; push the negation inwards"
            case _:
                pass
    return "it is no conjunction of `AG ψ` and `A[f W g]`; write it as one"
