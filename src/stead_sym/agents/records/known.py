"""Look up the decisions of queries in a store."""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.answer import Answer, Offered
from stead_sym.agents.records.store import Store
from stead_sym.errors import StoreError


def known(
    store: Store, asked: Mapping[str, tuple[tuple[Message, ...], tuple[Offered, ...]]]
) -> dict[str, Answer]:
    """Return the existing decisions of the keys, each of which is given with its prompt and its calls.

    Raise `StoreError` for a decision with another prompt or other calls.
    """
    answers = store.get_many(asked)
    for key, answer in answers.items():
        if (answer.prompt, answer.calls) != asked[key]:
            raise of_another_question(store, answer)
    return answers


def of_another_question(store: Store, answer: Answer) -> StoreError:
    """Return the error for a decision whose key belongs to another query."""
    return StoreError(
        f"{store.name}: decision {answer.key[:12]} has other calls, or another prompt, than what"
        " its key was made of; use another store"
    )
