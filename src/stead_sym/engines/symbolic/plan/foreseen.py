"""The one-hot vectors that a deployment will need, declared together with the state bits.

A variable that is inserted among the others costs as much as there are variables: with a bit for each
record, the square of the records. One decision: what is foreseen need not be all; a vector that is missing
is inserted when it is asked for (`encode.values`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.encode.values import FAIR, HELD, PARAM
from stead_sym.logic.syntax import Formula, Quantified, children


def foreseen(deployment: Deployment) -> Mapping[tuple[str, str], int]:
    """How many one-hot vectors of each role and sort: those of the parameters of a tool or of the columns of
    a relation that an agent is shown, and of the variables of a specification that are in scope at once."""
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
    """The largest numbers of variables of each sort that a formula binds one within the other."""
    below = _most(map(_in_scope, children(formula)))
    return below + Counter([formula.binder.sort]) if isinstance(formula, Quantified) else below


def _most(numbers: Iterable[Counter[str]]) -> Counter[str]:
    most = Counter[str]()
    for each in numbers:
        most |= each
    return most
