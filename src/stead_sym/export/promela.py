"""Write an export in Promela, the language of Spin, for the specifications that LTL can express.

One decision: a specification is translated exactly or not at all. Spin decides LTL, in which a formula is
about every run from the initial states. A formula of CTL is equivalent to the LTL formula without its path
quantifiers if it is of this kind (ACTL-det of Maidl, "The common fragment of CTL and LTL"), p and q being
without temporal operators:

    φ ::= p | φ ∧ φ | p ∨ φ | AG φ | AF p | A[φ U p] | ¬E[p U q]

For at every position of a run p alone decides which part applies there, independently of the past of the run.
That also holds over the fair runs, as a run is fair iff its suffix is; the LTL formula is then ⋀_k G F c_k →
φ. If there is a single initial state, a specification whose negation is of this kind is translated too: it
holds iff Spin finds an error. The others cannot be checked by Spin: `askable` returns those that can.

AX belongs to the fragment too; it is omitted, since Spin's reductions are for formulas without X.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache

from stead_sym.export.connectives import either, negation
from stead_sym.export.layers import Node
from stead_sym.export.model import Export, Question
from stead_sym.export.names import Holds, plain
from stead_sym.logic.syntax import (
    And,
    Atom,
    Formula,
    Future,
    Globally,
    Not,
    Or,
    Truth,
    Until,
    conjuncts,
    is_temporal,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The translation of a specification to claims for Spin.

    It holds iff none of the ``claims`` has an error, or with ``negated`` iff one of them has.
    """

    question: Question
    claims: Mapping[str, Formula]
    negated: bool


def askable(export: Export) -> tuple[Asked, ...]:
    """Return the specifications that Spin can check.

    None of them holds a value whose name is not persistent across steps: layers cannot be expressed in linear
    time.
    """
    asked = (_asked(question, export.graph.initial) for question in export.questions)
    return tuple(found for found in asked if found is not None)


def _asked(question: Question, initial: int) -> Asked | None:
    if question.plain is None:
        return None
    for formula, negated in ((question.plain, False), (negation(question.plain), True)):
        if _is_linear(formula) and not (negated and initial > 1):
            claims = {f"{question.identifier}_{k}": part for k, part in enumerate(_split(formula), 1)}
            return Asked(question, claims, negated)
    return None


def _is_linear(formula: Formula) -> bool:
    match formula:
        case _ if not is_temporal(formula):
            return True
        case And(parts):
            return all(map(_is_linear, parts))
        case Or(parts):
            *rest, last = sorted(parts, key=is_temporal)
            return _is_linear(last) and not any(map(is_temporal, rest))
        case Globally("A", body):
            return _is_linear(body)
        case Future("A", body):
            return not is_temporal(body)
        case Until("A", left, right):
            return _is_linear(left) and not is_temporal(right)
        case Not(Until("E", left, right)):
            return not is_temporal(left) and not is_temporal(right)
        case _:
            return False


def _split(formula: Formula) -> Iterator[Formula]:
    """Yield formulas whose conjunction is equivalent, as small as possible.

    AG (f ∧ g) = AG f ∧ AG g, p ∨ (f ∧ g) = (p ∨ f) ∧ (p ∨ g). The automaton of a conjunction is as large as
    all of its parts' together.
    """
    match formula:
        case _ if not is_temporal(formula):
            yield formula
        case And():
            for part in conjuncts(formula):
                yield from _split(part)
        case Globally("A", body):
            for part in _split(body):
                yield Globally("A", part)
        case Or(parts):
            *rest, last = sorted(parts, key=is_temporal)
            for part in _split(last):
                yield either(*rest, part)
        case _:
            yield formula


def to_promela(export: Export) -> str:
    """Return the export as a Promela process, with a claim for every part of the specifications for Spin.

    If there are several initial states, the first step takes one of them, and ``first`` is true directly
    after it: the claims are about the run from there.
    """
    return "\n".join(_Writer(export, askable(export)).lines()) + "\n"


@dataclass(eq=False)
class _Writer:
    export: Export
    asked: tuple[Asked, ...]
    watched: dict[Formula, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        fair = [f"[]<> {self._watch(constraint)}" for constraint in self.export.fair if self.asked]
        claims = {name: self._ltl(claim) for asked in self.asked for name, claim in asked.claims.items()}
        yield from (f"/* {line} */" for line in self.export.heading())
        yield ""
        yield from self._declarations()
        yield ""
        yield "active proctype deployment() {"
        yield "  do"
        yield from self._steps()
        yield "  od"
        yield "}"
        yield ""
        for asked in self.asked:
            question = asked.question
            yield f"/* {plain(question.spec)}: {plain(question.written)}"
            yield f"   stead-sym: {plain(question.words)}"
            every = "none of these claims has an error"
            some = "one of these claims has an error; they say the contrary"
            yield f"   holds iff {some if asked.negated else every} */"
            for name in asked.claims:
                claim = f"({' && '.join(fair)}) -> {claims[name]}" if fair else claims[name]
                yield f"ltl {name} {{ {f'[] (!first || ({claim}))' if self._many else claim} }}"
        left = [q for q in self.export.questions if q not in [asked.question for asked in self.asked]]
        for question in left:
            yield f"/* {plain(question.spec)} is not asked: {plain(question.written)} */"

    @property
    def _many(self) -> bool:
        """True if there are several initial states."""
        return self.export.graph.initial > 1

    def _declarations(self) -> Iterator[str]:
        true = frozenset[str]() if self._many else self._true_in(0)
        yield f"int state = {-1 if self._many else 0};"
        if self._many:
            yield "bool first = false;"
        shown = {self.export.names.of(Holds(fact)): str(fact) for fact in self.export.graph.facts}
        shown |= {name: str(formula) for formula, name in self.watched.items()}
        for name, meaning in shown.items():
            yield f"bool {name} = {_word(name in true)}; /* {plain(meaning)} */"

    def _steps(self) -> Iterator[str]:
        initial = self.export.graph.initial
        for i in range(initial if self._many else 0):
            yield f"  :: d_step {{ state == -1 -> first = true; {self._entering(frozenset(), i)} }}"
        for i, out in enumerate(self.export.graph.steps):
            leaving = "first = false; " * (self._many and i < initial)
            for target, label in out.items():
                entering = self._entering(self._true_in(i), target)
                yield f"  :: d_step {{ state == {i} -> {leaving}{entering} }} /* {plain(label)} */"

    def _entering(self, before: frozenset[str], target: int) -> str:
        """Return the assignments of a step: the state, and the changed facts and watched formulas."""
        after = self._true_in(target)
        values = [f"{name} = {_word(name in after)};" for name in sorted(before ^ after)]
        return " ".join([f"state = {target};", *values])

    @cache  # noqa: B019 (a writer lives as long as it writes)
    def _true_in(self, state: int) -> frozenset[str]:
        """Return the variables that are true in a state."""
        facts = self.export.graph.states[state].facts
        true = frozenset(self.export.names.of(Holds(fact)) for fact in facts)
        propositions, node = self.export.names.propositions, Node(state)
        seen = {name for name, what in propositions.items() if self.export.says(what, node)}
        return true | {name for formula, name in self.watched.items() if _holds(formula, seen)}

    def _watch(self, formula: Formula) -> str:
        """Return the variable for a formula without temporal operators."""
        if formula not in self.watched:
            self.watched[formula] = f"watched_{len(self.watched) + 1}"
        return self.watched[formula]

    def _ltl(self, formula: Formula) -> str:
        match formula:
            case _ if not is_temporal(formula):
                return self._watch(formula)
            case And(parts):
                return f"({' && '.join(map(self._ltl, parts))})"
            case Or(parts):
                *rest, last = sorted(parts, key=is_temporal)
                return f"({self._watch(either(*rest))} || {self._ltl(last)})"
            case Globally(_, body):
                return f"([] {self._ltl(body)})"
            case Future(_, body):
                return f"(<> {self._ltl(body)})"
            case Until(_, left, right):
                return f"({self._ltl(left)} U {self._ltl(right)})"
            case Not(body):
                return f"(!{self._ltl(body)})"
            case _:
                raise AssertionError(f"{formula} is not of linear time")


def _word(value: bool) -> str:
    return "true" if value else "false"


def _holds(formula: Formula, true: Set[str]) -> bool:
    """Return the value of a formula without temporal operators in which these propositions are true."""
    match formula:
        case Truth(value):
            return value
        case Atom(name):
            return name in true
        case Not(body):
            return not _holds(body, true)
        case And(parts):
            return all(_holds(part, true) for part in parts)
        case Or(parts):
            return any(_holds(part, true) for part in parts)
        case _:
            raise AssertionError(f"{formula} is not written out")
