"""Render chat templates in Jinja, as model files have them, without the library `transformers`.

The decision: a template is untrusted text, so it runs in Jinja's sandbox. It gets the variables that
`transformers` provides, except the clock: a prompt is a function of its messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stead_sym.agents.prompts.prompt import Message
from stead_sym.errors import ModelError
from stead_sym.models.tokenizer import library


class ChatTemplate:
    """A template with the texts of the special tokens that it may use, such as `bos_token`."""

    def __init__(self, template: str, special: Mapping[str, str], name: str) -> None:
        """Compile a template of the model ``name``; raise `ModelError` if the text is no template."""
        library("jinja2", name, "llama")
        from jinja2.exceptions import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(message: str) -> None:
            raise TemplateError(message)

        self._wrong = TemplateError
        self._name = name
        self._special = dict(special)
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.globals["raise_exception"] = refuse
        environment.filters["tojson"] = _as_json
        try:
            self._template = environment.from_string(template)
        except TemplateError as error:
            raise ModelError(f"{name}: its chat template is none: {error}; use another file") from None

    def text(self, messages: Sequence[Message]) -> str:
        """Return the chat as text, up to the start of the model's answer.

        Raise `ModelError` if the template rejects it.
        """
        chat = [message._asdict() for message in messages]
        try:
            text: str = self._template.render(
                messages=chat, add_generation_prompt=True, enable_thinking=False, **self._special
            )
            return text
        except self._wrong as error:
            raise ModelError(
                f"the chat template of {self._name} refuses the prompt: {error}; change the prompt's messages"
            ) from None


def _as_json(data: Any, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, indent=indent)
