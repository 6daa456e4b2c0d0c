"""A decision context as JSON, for the record of an agent without a prompt.

The decision: its message has a role that no chat has, so that a record shows if it has a prompt or a context.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message
from stead_sym.deployment.tool import Call

ROLE = "context"
"""The role of the message that has a context."""


class Texts(Protocol):
    """A representation of contexts and calls as text: a `Prompt`, or `Plain`."""

    def messages(self, context: DecisionContext, /) -> tuple[Message, ...]:
        """Return the messages for a context."""
        ...

    def call_text(self, call: Call, /) -> str:
        """Return the text of a call."""
        ...


class Plain:
    """The facts of a context by relation, and each call with its arguments, as JSON."""

    def messages(self, context: DecisionContext) -> tuple[Message, ...]:
        """Return one message with the facts in the view, and the texts that values in it denote."""
        facts: dict[str, list[tuple[str, ...]]] = {}
        for relation, args in sorted(context.view.facts):
            facts.setdefault(relation, []).append(args)
        values = {value for _, args in (*context.view.facts, *context.calls) for value in args}
        text_of = context.view.schema.text_of
        texts = {f"text {value}": text_of[value] for value in sorted(values & text_of.keys())}
        return (Message(ROLE, json.dumps({**facts, **texts}, ensure_ascii=False)),)

    def call_text(self, call: Call) -> str:
        """Return the tool and its arguments."""
        return json.dumps([call.tool, *call.args], ensure_ascii=False)


def is_plain(prompt: Sequence[Message]) -> bool:
    """Return True if the texts of a record are those of `Plain`."""
    return [message.role for message in prompt] == [ROLE]
