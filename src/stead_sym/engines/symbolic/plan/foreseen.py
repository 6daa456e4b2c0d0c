"""Foresee the one-hot vectors of a deployment, to declare them together with the state bits.

Inserting a variable among the others takes time linear in their number: with a bit for each record, quadratic
in the records. One decision: the prediction may be incomplete; a missing vector is inserted on demand
(`encode.values`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.encode.values import FAIR, HELD, PARAM
from stead_sym.logic.syntax import Formula, Quantified, children


def foreseen(deployment: Deployment) -> Mapping[tuple[str, str], int]:
    """Return the number of one-hot vectors of each role and sort.

    They are for the parameters of a tool, the columns of a relation in an agent's view, and the variables of
    a specification that are in scope at once.
    """
    params = [Counter(binder.sort for binder in tool.params) for tool in deployment.tools_and_events]
    columns = [Counter(relation.sorts) for relation in deployment.schema.relations]
    fair = [
        Counter(binder.sort for binder in deployment.tool(str(action.name)).params)
        for action in deployment.fair_actions
        if action.kind != "agent"
    ]
    held = [_in_scope(spec.formula) for spec in deployment.specs]
    return {
        (role, sort): number
        for role, numbers in ((PARAM, params + columns), (FAIR, fair), (HELD, held))
        for sort, number in _most(numbers).items()
    }


def _in_scope(formula: Formula) -> Counter[str]:
    """Return the largest numbers of variables of each sort that a formula binds one within the other."""
    below = _most(map(_in_scope, children(formula)))
    return below + Counter([formula.binder.sort]) if isinstance(formula, Quantified) else below


def _most(numbers: Iterable[Counter[str]]) -> Counter[str]:
    most = Counter[str]()
    for each in numbers:
        most |= each
    return most
