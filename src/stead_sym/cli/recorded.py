"""Agents on the command line that are Python objects, or models behind a chat interface.

They are neither policies nor models decoded here. Their modules are imported when there is such an agent.
One decision: the settings of their queries may be given in the code of the agent and on the command line, and
the command line takes precedence.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from stead_sym.agents.base import Agent
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.store import Store
from stead_sym.cli.modules import user_object
from stead_sym.cli.numbers import positive, seconds
from stead_sym.cli.options import Options
from stead_sym.errors import InputError
from stead_sym.models.backends import CHAT_KIND

PYTHON = "python:MODULE:OBJECT"
RECORDED_KINDS = (PYTHON, CHAT_KIND)
"""The kinds that `recorded_agent` takes."""
ASKED = ("samples", "concurrency", "tries", "deadline")
"""The options of `add_asking`."""

_KIND = re.compile(r"(?:\w+=)?(any$|python:|openai:)")


def kind_of(word: str) -> str:
    """Return the kind of agent that a word names, with or without `AGENT=` before it.

    It is `any`, `python`, `openai`, or `model` for every other backend.
    """
    match = _KIND.match(word)
    return match[1].rstrip(":") if match else "model"


def keeps_answers(word: str) -> bool:
    """Return True if the answers of the agent that a word names are recorded.

    This is so for every model, and for a Python object that has an identity. Raises `InputError` if there is
    no such object.
    """
    if kind_of(word) != "python":
        return kind_of(word) != "any"
    from stead_sym.agents.recorded import RecordedAgent

    return isinstance(_object(word), RecordedAgent)


def add_asking(parser: Options) -> None:
    """Add --samples, --concurrency, --tries and --deadline."""
    whom = "python: and openai:"
    asked = "python:, openai: and vllm:http:"
    parser.add_argument(
        "--samples",
        type=positive,
        metavar="N",
        help=f"{whom} ask N times, and take every answer to be possible (default: 1)",
    )
    parser.add_argument(
        "--concurrency", type=positive, metavar="N", help=f"{asked} so many questions at a time"
    )
    parser.add_argument(
        "--tries", type=positive, metavar="N", help=f"{asked} so many tries where a question fails"
    )
    parser.add_argument(
        "--deadline", type=seconds, metavar="SECONDS", help=f"{asked} for each question, with all its tries"
    )


def asked_with(options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options of `add_asking`, by their names."""
    return {name: value for name in ASKED if (value := getattr(options, name)) is not None}


def recorded_agent(
    word: str,
    prompt: Callable[[], Prompt],
    store: Callable[[], Store],
    *,
    named_store: bool,
    given: Mapping[str, Any] = MappingProxyType({}),
    temperature: float | None = None,
) -> Agent:
    """Return the agent of a word that is one of `RECORDED_KINDS`, with the ``given`` settings.

    ``named_store``: the user has named the store, which takes precedence over that of a Python object. Raises
    `InputError` if there is no such object, or the address is invalid.
    """
    kind, _, rest = word.partition(":")
    if kind == "openai":
        from stead_sym.models.chat import ASKING, chat_agent

        return chat_agent(rest, prompt(), store, replace(ASKING, **given), temperature=temperature)
    from stead_sym.agents.python import PythonAgent
    from stead_sym.agents.recorded import Asking, RecordedAgent

    found = _object(word)
    own_store = store if named_store else None
    if isinstance(found, RecordedAgent):
        return found.again(own_store, replace(found.asking, **given))
    if isinstance(found, Agent) and not isinstance(found, type):
        if given or own_store:
            raise InputError(
                f"{word} asks and stores by itself; leave out --store and --{', --'.join(ASKED)}"
            )
        return found
    if isinstance(found, type) or not callable(found):
        raise InputError(f"{word} is no agent; name a function of a context, or an object that is an agent")
    if own_store:
        raise InputError(
            f"{word} has no identity to keep answers under; write @st.agent(identity=...) above it, or leave"
            " out --store"
        )
    return PythonAgent(found, asking=replace(Asking(), **given))


def _object(word: str) -> Any:
    """Return the object that `python:MODULE:OBJECT` names.

    Modules are searched in the current folder first.
    """
    _, module, path = [*word.split(":", 2), "", ""][:3]
    if not module or not path:
        raise InputError(f"{word} is no Python object; write {PYTHON}")
    return user_object(word, module, path)
