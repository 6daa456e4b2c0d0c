"""The decision that a store has for a question, if it has one."""

from __future__ import annotations

from stead_sym.agent.prompts.prompt import Message
from stead_sym.agent.records.answer import Answer, Offered
from stead_sym.agent.records.store import Store
from stead_sym.errors import StoreError


def known(store: Store, key: str, prompt: tuple[Message, ...], calls: tuple[Offered, ...]) -> Answer | None:
    """The decision of that key; `StoreError` for one of another question than its key was made of."""
    answer = store.get(key)
    if answer is not None and (answer.prompt, answer.calls) != (prompt, calls):
        raise StoreError(
            f"{store.name}: decision {answer.key[:12]} has other calls, or another prompt, than what"
            " its key was made of; use another store"
        )
    return answer
