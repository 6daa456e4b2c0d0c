"""Decisions and verdicts as tables of pandas, which is loaded on request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from stead_sym.agents.records.weight import is_same
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.errors import InputError
from stead_sym.support.extras import install
from stead_sym.verification.result import Verification, as_verification

if TYPE_CHECKING:
    import pandas


def decisions_frame(result: Verification) -> pandas.DataFrame:
    """Return a table with one row for each canonical context in which an agent was queried.

    The rows are in the order in which the contexts were met. They have the agent, whose name is empty if
    there is only one, and the number of the context as in the report. The facts shown, the calls offered and
    those selected are lists of texts.

    Decisions of a language model also have `margin` and `mass` (`Decoding`), `unforced` (if it writes the
    same without the constraint) and the `record`; missing if they are not known. Raises `InputError` if
    pandas is not installed.
    """
    rows: list[dict[str, object]] = []
    for name, run in as_verification(result).agents.items():
        for number, (decision, answer) in enumerate(zip_longest(run.decisions, run.answers), 1):
            context, selected = decision
            rows.append(
                {
                    "agent": name,
                    "context": number,
                    "facts": [*map(str, context.view)],
                    "offered": [*map(str, sorted(context.calls))],
                    "selected": [*map(str, sorted(selected))],
                    "margin": answer and answer.margin,
                    "mass": answer and answer.mass,
                    "unforced": answer and is_same(answer),
                    "record": answer and answer.key,
                }
            )
    columns = ("agent", "context", "facts", "offered", "selected", "margin", "mass", "unforced", "record")
    return _frame(rows, columns)


def verdicts_frame(result: Verification | Deepening) -> pandas.DataFrame:
    """Return a table with one row for each specification.

    A row has its name, formula and verdict, the reason of an unknown one, and its scope as a list of texts.
    `empty` is true if it holds vacuously. `steps` is the length of the run that shows it, missing if there is
    none. Raises as `decisions_frame`.
    """
    rows: list[dict[str, object]] = [
        {
            "spec": verdict.spec,
            "formula": str(verdict.formula),
            "verdict": verdict.word,
            "reason": verdict.reason,
            "scope": [*verdict.scope],
            "empty": verdict.empty,
            "steps": None if verdict.trace is None else len(verdict.trace.steps),
        }
        for verdict in result.verdicts.values()
    ]
    frame = _frame(rows, ("spec", "formula", "verdict", "reason", "scope", "empty", "steps"))
    frame["steps"] = frame["steps"].astype("Int64")
    return frame


def _frame(rows: Sequence[dict[str, object]], columns: Sequence[str]) -> Any:
    try:
        import pandas
    except ImportError:
        raise InputError(f"pandas is not installed; {install('notebook')}") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
