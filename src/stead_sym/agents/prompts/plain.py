"""A decision context as JSON, for the record of an agent that is sent no prompt.

The decision: it is told from a prompt by the role of its message, which no chat has, so that whoever reads a
record knows which of the two it holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message
from stead_sym.deployment.tool import Call

ROLE = "context"
"""The role of the message that holds a context."""


class Texts(Protocol):
    """How a context and a call are written down: a `Prompt`, or `Plain`."""

    def messages(self, context: DecisionContext, /) -> tuple[Message, ...]: ...
    def call_text(self, call: Call, /) -> str: ...


class Plain:
    """The facts of a context by relation, and each call with its arguments, as JSON."""

    def messages(self, context: DecisionContext) -> tuple[Message, ...]:
        """One message with the facts shown, and the texts that values in it stand for."""
        facts: dict[str, list[tuple[str, ...]]] = {}
        for relation, args in sorted(context.view.facts):
            facts.setdefault(relation, []).append(args)
        values = {value for _, args in (*context.view.facts, *context.calls) for value in args}
        text_of = context.view.schema.text_of
        texts = {f"text {value}": text_of[value] for value in sorted(values & text_of.keys())}
        return (Message(ROLE, json.dumps({**facts, **texts}, ensure_ascii=False)),)

    def call_text(self, call: Call) -> str:
        """The tool and its arguments."""
        return json.dumps([call.tool, *call.args], ensure_ascii=False)


def is_plain(prompt: Sequence[Message]) -> bool:
    """Whether the texts of a record are those of `Plain`."""
    return [message.role for message in prompt] == [ROLE]
