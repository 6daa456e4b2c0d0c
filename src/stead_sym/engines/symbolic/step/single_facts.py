"""Rewrite conjunctions with several atoms of a relation that holds at most one fact into a single atom.

If a relation P holds at most one fact,

    (∃x̄. P(s̄) ∧ f) ∧ (∃ȳ. P(t̄) ∧ g)   ≡   ∃x̄, ȳ. P(s̄) ∧ s̄ = t̄ ∧ f ∧ g,

and a quantified variable to which s̄ = t̄ gives a value is eliminated: P(s̄) implies that this value is
active. So `(∃c. Focus(c) ∧ PartOf(t, c)) ∧ (∃c. Focus(c) ∧ Handler(c, s))` becomes `∃c. Focus(c) ∧ PartOf(t,
c) ∧ Handler(c, s)`. The diagram of the former has a node for each pair of a task and a handler, as if two
cases could be in hand at once; that of the latter has one for each case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.logic.substitution import fresh_name, substitute


def merged(formula: fo.And, single: Set[str]) -> tuple[fo.Formula, ...]:
    """Return formulas whose conjunction is equivalent to the given one.

    The equivalence holds in every state with at most one fact of each relation of ``single``. Together they
    have at most one conjunct that is an atom of such a relation, possibly below quantifiers ∃.
    """
    blocks = _blocks([formula])
    if not _repeated(blocks, single):
        return formula.parts
    while repeated := _repeated(blocks, single):
        relation = min(repeated)
        joined = _apart(block for block in blocks if block.atoms(relation))
        others = [block for block in blocks if not block.atoms(relation)]
        linked = _separated(_with_one_atom(joined, relation))
        blocks = [*others, *_blocks(block.formula for block in linked)]
    return tuple(block.formula for block in blocks)


@dataclass(frozen=True, slots=True)
class _Block:
    """The formula ∃ binders. ⋀ parts."""

    binders: tuple[fo.Binder, ...]
    parts: tuple[fo.Formula, ...]

    @classmethod
    def of(cls, formula: fo.Formula) -> _Block:
        """Return the block of a formula."""
        binders: list[fo.Binder] = []
        while isinstance(formula, fo.Exists):
            binders.append(formula.binder)
            formula = formula.body
        return cls(tuple(binders), tuple(fo.conjuncts(formula)))

    @property
    def formula(self) -> fo.Formula:
        """The block as a formula."""
        return fo.quantify(fo.Exists, self.binders, fo.conjunction(self.parts))

    def atoms(self, relation: str) -> list[fo.Atom]:
        """Return the parts that are atoms of a relation, in the state and not in its successor."""
        return [p for p in self.parts if isinstance(p, fo.Atom) and p.relation == relation and not p.primed]


def _blocks(formulas: Iterable[fo.Formula]) -> list[_Block]:
    """Return blocks whose conjunction is that of the formulas, one for each conjunct."""
    return [_Block.of(part) for formula in formulas for part in fo.conjuncts(formula)]


def _repeated(blocks: Iterable[_Block], single: Set[str]) -> Set[str]:
    """Return the relations of ``single`` with several atoms among the parts."""
    parts = (part for block in blocks for part in block.parts)
    number = Counter(part.relation for part in parts if isinstance(part, fo.Atom) and not part.primed)
    return {relation for relation in single if number[relation] > 1}


def _apart(blocks: Iterable[_Block]) -> _Block:
    """Return the conjunction of the blocks as one, with distinct names of the quantified variables."""
    joined = tuple(blocks)
    taken = set[str]().union(*(fo.free_variables(block.formula) for block in joined))
    binders: list[fo.Binder] = []
    parts: list[fo.Formula] = []
    for block in joined:
        names: dict[str, fo.Term] = {}
        for binder in block.binders:
            name = fresh_name(binder.name, taken)
            taken.add(name)
            names[binder.name] = fo.Var(name)
            binders.append(replace(binder, name=name))
        parts += (substitute(part, names) for part in block.parts)
    return _Block(tuple(binders), tuple(parts))


def _with_one_atom(block: _Block, relation: str) -> _Block:
    """Return the block with only the first of its atoms of a single relation, and its terms unified.

    The relation holds at most one fact, so the terms of the other atoms are equal to those of the first.
    """
    first, *others = block.atoms(relation)
    bound = {binder.name for binder in block.binders}
    images: dict[str, fo.Term] = {}
    equal: list[fo.Formula] = []
    for other in others:
        for pair in zip(first.args, other.args, strict=True):
            left, right = (images.get(t.name, t) if isinstance(t, fo.Var) else t for t in pair)
            if left == right:
                continue
            if isinstance(right, fo.Var) and right.name in bound:
                variable, value = right, left
            elif isinstance(left, fo.Var) and left.name in bound:
                variable, value = left, right
            else:
                equal.append(fo.Equal(left, right))
                continue
            images = {name: value if image == variable else image for name, image in images.items()}
            images[variable.name] = value
    kept = [first, *(part for part in block.parts if part != first and part not in others)]
    return _Block(
        tuple(binder for binder in block.binders if binder.name not in images),
        (*(substitute(part, images) for part in kept), *(substitute(part, images) for part in equal)),
    )


def _separated(block: _Block) -> Iterator[_Block]:
    """Yield blocks whose conjunction is the block, each for variables that its parts connect."""
    bound = {binder.name for binder in block.binders}
    groups: list[tuple[set[str], list[fo.Formula]]] = [({binder.name}, []) for binder in block.binders]
    for part in block.parts:
        names, linked = set(fo.free_variables(part) & bound), [part]
        apart: list[tuple[set[str], list[fo.Formula]]] = []
        for group in groups:
            if group[0] & names:
                names |= group[0]
                linked = [*group[1], *linked]
            else:
                apart.append(group)
        groups = [*apart, (names, linked)]
    for names, linked in groups:
        yield _Block(tuple(b for b in block.binders if b.name in names), tuple(linked))
