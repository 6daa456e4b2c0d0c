"""Warnings: what the language allows although its author hardly means it.

One decision: a warning never changes what a file means and never stops anything. Those about how
a formula is written (its parentheses) need the text; the others need the deployment only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stead_sym.deployment.deployment import Deployment, Parts
from stead_sym.deployment.tool import Choose, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.errors import Span
from stead_sym.logic.syntax import (
    And,
    Binder,
    Const,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Resolved,
    Truth,
    Use,
    free_variables,
    subformulas,
    terms,
)


@dataclass(frozen=True, slots=True)
class Warning_:  # noqa: N801 (`Warning` is Python's own)
    """One warning, printed as one line like an error."""

    span: Span | None
    message: str

    def __str__(self) -> str:
        return f"{self.span}: {self.message}" if self.span else self.message


def lint(deployment: Deployment, text: str | None = None) -> tuple[Warning_, ...]:
    """The warnings for a deployment, in the order of their places; ``text`` is what it was parsed from.

    - a define that nothing uses;
    - a quantified variable that its body does not mention (`exists x: s. true` is left alone: it
      says that something of the sort is active);
    - a variable with the name of a constant, which then cannot be named there;
    - a policy rule that mentions a constant that is not rigid: this policy knows it by name (its wrapper
      leaves it alone), but a language model would be shown another name in its place;
    - with ``text``, a negated quantifier that takes in a connective without parentheses
      (`~exists x. f & g`).
    """
    found = [
        *_unused_definitions(deployment),
        *_unused_variables(deployment),
        *_shadowed_constants(deployment),
        *_known_constants(deployment),
    ]
    if text is not None:
        found.extend(_reaching_negations(deployment, text))
    return tuple(sorted(dict.fromkeys(found), key=_place))


def _place(warning: Warning_) -> tuple[int, int, str]:
    span = warning.span
    return (span.line, span.column, warning.message) if span else (0, 0, warning.message)


def _tool_formulas(tool: Tool) -> Iterator[Formula]:
    yield tool.guard
    for effect in tool.effects:
        yield effect.when
        for statement in effect.statements:
            match statement:
                case Choose(_, where) | Insert(_, _, where) | Delete(_, _, where):
                    yield where
                case Ensure(formula):
                    yield formula
                case _:
                    pass


def _formulas(parts: Parts) -> Iterator[Resolved]:
    yield from (definition.body for definition in parts.definitions)
    for tool in parts.tools:
        yield from _tool_formulas(tool)
    yield from (view.where for view in parts.views)
    yield from (rule.when for policy in parts.policies for rule in policy.rules)
    yield from parts.fair
    yield from (spec.formula for spec in parts.specs)


def _subformulas(d: Deployment) -> Iterator[Resolved]:
    """Every formula that the deployment holds and all below it, as written."""
    return (part for formula in _formulas(d.written) for part in subformulas(formula))


def _unused_definitions(d: Deployment) -> Iterator[Warning_]:
    used = {part.definition for part in _subformulas(d) if isinstance(part, Use)}
    for definition in d.written.definitions:
        if definition.name not in used:
            yield Warning_(definition.span, f"the define {definition.name} is not used; remove it")


def _unused_variables(d: Deployment) -> Iterator[Warning_]:
    for part in _subformulas(d):
        if isinstance(part, Quantified) and not isinstance(part.body, Truth):
            name = part.binder.name
            if name not in free_variables(part.body):
                yield Warning_(
                    part.binder.span or part.span,
                    f"the body does not mention {name}, so {name} only matters in that it asks for active "
                    f"values of {part.binder.sort}; use the variable or remove it",
                )


def _effect_binders(effect: Effect) -> Iterator[Binder]:
    for statement in effect.statements:
        match statement:
            case Choose(binder) | Fresh(binder):
                yield binder
            case Insert(_, binders) | Delete(_, binders):
                yield from binders
            case _:
                pass


def _binders(d: Deployment) -> Iterator[Binder]:
    """Every variable that the deployment declares."""
    for definition in d.written.definitions:
        yield from definition.params
    for tool in d.written.tools:
        yield from tool.params
        for effect in tool.effects:
            yield from _effect_binders(effect)
    for view in d.written.views:
        yield from view.params
    yield from (part.binder for part in _subformulas(d) if isinstance(part, Quantified))


def _shadowed_constants(d: Deployment) -> Iterator[Warning_]:
    for binder in _binders(d):
        if binder.name in d.sort_of_constant:
            yield Warning_(
                binder.span,
                f"the variable {binder.name} has the name of a constant of sort "
                f"{d.sort_of_constant[binder.name]}; give it another, or write the constant in the formula",
            )


def _known_constants(d: Deployment) -> Iterator[Warning_]:
    for policy in d.policies:
        for rule in policy.rules:
            inside = (term for part in subformulas(rule.when) for term in terms(part))
            for term in (*rule.args, *inside):
                if isinstance(term, Const) and term.value not in d.schema.rigid:
                    yield Warning_(
                        term.span or rule.span,
                        f"{term.value} is not rigid: policy {policy.name} knows it by name, but a "
                        "language model is shown another in its place; make its sort rigid or leave it out",
                    )


def _reaching_negations(d: Deployment, text: str) -> Iterator[Warning_]:
    starts = _line_starts(text)
    for part in _subformulas(d):
        match part:
            case Not(Exists(_, body) | Forall(_, body)):
                while isinstance(body, Exists | Forall):
                    body = body.body
                begin, end = (_offset(f.span, starts) for f in (part, body))
                connective = isinstance(body, And | Or | Implies | Iff)
                if connective and begin is not None and end is not None and "(" not in text[begin:end]:
                    yield Warning_(
                        part.span,
                        "the negation takes in everything after the quantifier, connectives included; write "
                        "`~exists x. (f & g)`, or `(~exists x. f) & g` if that is meant",
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
