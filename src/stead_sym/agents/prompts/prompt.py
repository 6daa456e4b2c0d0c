"""Convert a decision context to the messages for a language model, and a call to its text.

The decision: a prompt is a function of the (canonical) decision context alone, and the same object serves
verification and production. The surrounding texts are those of the deployment (`system`, `instructions`) or
files, each of which replaces one default:

| file | what |
| --- | --- |
| `system.txt` | the system message; an empty one leaves the message out |
| `user.txt` | the user message, with placeholders |
| `policy.txt` | the text for `[POLICY TEXT]` |
| `tools.json` | the text for `[TOOL SCHEMAS]`, unchanged |
| `calls.json` | per tool, the text of a call of it, with `[parameter]` for its arguments |

Placeholders of `user.txt`: `[POLICY TEXT]`, `[TOOL SCHEMAS]`, `[CURRENT RELATIONAL STATE]`, `[OFFERED
CALLS]`, `[SORT]` for the only value of a sort in the context, and `[Relation.2]` for the second value of the
only fact of a relation. One line feed at the end of a file is not part of its text.

Identifiers come from live data, and texts are untrusted, so neither is written into a prompt unescaped. In
the state a value is a JSON string; one with a text is `{"m1": "Please refund …"}` at every occurrence, and
has a separate entry `"text m1"` if only offered calls mention it. In a call it is written as its name. A
placeholder is replaced by the value, or its text, as inside the quotes of a JSON string, so that it cannot
leave its line and its quotes; names without quotes, backslashes and control characters are unchanged.

The user message of one of many agents begins with a line that says which one it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.paper import is_paper, paper_prompt
from stead_sym.agents.prompts.texts import (
    Template,
    call_templates,
    own_text,
    packaged,
    read_texts,
    tool_schemas,
)
from stead_sym.deployment.callers import self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Calls
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import DeclarationError, InputError
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema, Value, message_begun, message_place

_POLICY, _TOOLS = "POLICY TEXT", "TOOL SCHEMAS"
_STATE, _CALLS = "CURRENT RELATIONAL STATE", "OFFERED CALLS"
_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that JSON does not escape, although they are invisible, end a line or cannot be encoded."""
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Message(NamedTuple):
    """One message of a chat; ``role`` is `system` or `user`."""

    role: str
    content: str


@dataclass(frozen=True)
class Prompt:
    """The texts around a decision context; build it with `Prompt.of`.

    ``shown`` are the relations in the agent's view, ``schemas`` is the text of the tools, ``calls`` has the
    template of a call for tools whose calls are not written as JSON. ``each`` is the sort of agents that are
    many: the user message of one begins with its name. ``several`` is how the agent puts calls into one
    message, None if it makes one call and is asked again.
    """

    schema: Schema
    tools: tuple[Tool, ...]
    shown: tuple[str, ...]
    system: str
    user: Template
    policy: str
    schemas: str
    calls: Mapping[str, Template] = field(default_factory=dict)
    each: str | None = None
    several: Calls | None = None

    def __post_init__(self) -> None:
        """Check the placeholders of the templates."""
        self.user.check(self._placeholders)
        for name, template in self.calls.items():
            template.check([param.name for param in self._tool(name).params])

    @classmethod
    def of(
        cls, deployment: Deployment, directory: str | Path | None = None, agent: AgentRole | None = None
    ) -> Prompt:
        """Return the prompt of an agent, by default the only one.

        Files in ``directory`` replace its texts, or those of the paper if ``directory`` is a name in `paper`.
        With several agents, a folder in ``directory`` with an agent's name has its texts. Raise `InputError`
        if the directory has none of these files, or if a file is invalid.
        """
        agent = agent or deployment.agents[0]
        given: Mapping[str, Template] = {}
        name, tools = deployment.name, deployment.tools_of(agent)
        if isinstance(directory, str) and is_paper(directory):
            given = paper_prompt(directory, tools, name)
        elif directory is not None:
            own = Path(directory, agent.name)
            given = read_texts(own if own.is_dir() else Path(directory))
        shown = {view.relation for view in agent.views}
        system = given.get("system.txt", own_text("system.txt", agent.system))
        policy = given.get("policy.txt", own_text("policy.txt", agent.instructions))
        user = given.get("user.txt", Template(packaged("user.txt"), "user.txt"))
        schemas = given.get("tools.json", Template(tool_schemas(tools), name))
        return cls(
            schema=deployment.schema,
            tools=tools,
            shown=tuple(
                r.name
                for r in deployment.schema.relations
                if (not shown or r.name in shown)
                and r.name != message_begun(agent.name)  # never when it is asked
            ),
            system=system.text,
            user=user,
            policy=policy.text,
            schemas=schemas.text,
            calls=call_templates(given["calls.json"], deployment) if "calls.json" in given else {},
            each=agent.each,
            several=agent.calls,
        )

    def messages(self, context: DecisionContext) -> tuple[Message, ...]:
        """Return the messages that are sent to the model for a context.

        Raise `InputError` if a placeholder has no unique value there.
        """

        def value(name: str) -> str:
            match name:
                case "POLICY TEXT":
                    return self.policy
                case "TOOL SCHEMAS":
                    return self.schemas
                case "CURRENT RELATIONAL STATE":
                    return self.state_text(context.view, context.calls)
                case "OFFERED CALLS":
                    return "\n".join(self.call_text(call) for call in sorted(context.calls))
                case _:
                    return self._only(name, context)

        content = self.user.fill(self._placeholders, value)
        if self.each is not None:
            content = f"You are the {self.each} {self._itself(context)}.\n\n{content}"
        if self.several is not None:
            content = f"{content}\n\n{_about_messages(self.several)}"
        user = Message("user", content)
        return (Message("system", self.system), user) if self.system else (user,)

    def _itself(self, context: DecisionContext) -> str:
        """Return the text of the agent, of many, that decides in the context: each of its calls names it."""
        call = min(context.calls)
        return _json(self._shown(call.args[self_place(self._tool(call.tool))]))

    def state_text(self, view: Instance, calls: Iterable[Call] = ()) -> str:
        """Return the facts as a JSON object: for every relation in the view the sorted list of its tuples.

        The calls that the agent's message has so far follow, and the texts of values that only the calls
        mention.
        """
        rows: dict[str, list[tuple[Value, ...]]] = {
            name: [] for name in self.shown if name not in self._places
        }
        for relation, args in view.facts:
            if relation in rows:
                rows[relation].append(args)
        lines = [
            f"  {_json(name)}: [{', '.join(map(self._row, sorted(tuples)))}]" for name, tuples in rows.items()
        ]
        if not self._places.keys().isdisjoint(self.shown):
            so_far = ", ".join(map(self.call_text, self.written(view)))
            lines.append(f"  {_json('calls of your message so far')}: [{so_far}]")
        if self.schema.text_of:
            offered = {value for call in calls for value in call.args if value in self.schema.text_of}
            shown = {value for tuples in rows.values() for args in tuples for value in args}
            texts = ((value, self.schema.text_of[value]) for value in sorted(offered - shown))
            lines.extend(f"  {_json(f'text {value}')}: {_json(text)}" for value, text in texts)
        return "{\n" + ",\n".join(lines) + "\n}"

    def written(self, view: Instance) -> list[Call]:
        """Return the calls that the agent's message has so far, in order, as far as the view shows them."""
        places = sorted(
            (place, fact.args) for fact in view.facts if (place := self._places.get(fact.relation))
        )
        return [Call(tool, args) for (_, tool), args in places]

    def _row(self, args: tuple[Value, ...]) -> str:
        """Return the text of a tuple in the state."""
        if self.schema.text_of.keys().isdisjoint(args):
            return _names(args)
        return _json(list(map(self._shown, args)))

    def _shown(self, value: Value) -> object:
        """Return the representation of a value in the state."""
        text = self.schema.text_of.get(value)
        return value if text is None else {value: text}

    def call_text(self, call: Call) -> str:
        """Return the text of a call; the model selects the call by writing it."""
        names = tuple(param.name for param in self._tool(call.tool).params)
        if call.tool not in self.calls:
            return _call(call, names)
        arguments = dict(zip(names, call.args, strict=True))
        return self.calls[call.tool].fill(names, lambda name: _inner(arguments[name]))

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, str]]:
        """The relations that hold calls of the agent's message, with the place and the tool of each."""
        places = range(1, 1 + (0 if self.several is None else self.several.most))
        return {
            message_place(tool.name, place): (place, tool.name) for tool in self.tools for place in places
        }

    @cached_property
    def _placeholders(self) -> frozenset[str]:
        columns = (f"{r.name}.{i}" for r in self.schema.relations for i in range(1, r.arity + 1))
        sorts = (sort.name.upper() for sort in self.schema.sorts)
        return frozenset((_POLICY, _TOOLS, _STATE, _CALLS, *sorts, *columns))

    def _only(self, name: str, context: DecisionContext) -> str:
        """Return the unique value for `[SORT]` or `[Relation.2]`, or its text."""
        relation, dot, column = name.partition(".")
        values: Sequence[Value]
        if dot:
            values = sorted(args[int(column) - 1] for args in context.view.tuples(relation))
            what = f"facts of {relation}"
        else:
            values = sorted(self._values(name, context))
            what = f"values of {name}"
        if len(values) != 1:
            raise InputError(
                f"the context has {len(values)} {what} where one is wanted; use another placeholder"
            )
        return _inner(self.schema.text_of.get(values[0], values[0]))

    def _values(self, name: str, context: DecisionContext) -> set[Value]:
        found: set[Value] = set()
        for sort, values in context.view.active_domain.items():
            if sort.upper() == name:
                found |= values
        for call in context.calls:
            params = self._tool(call.tool).params
            found |= {v for p, v in zip(params, call.args, strict=True) if p.sort.upper() == name}
        return found

    def _tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise DeclarationError(f"unknown tool {name}; there are {', '.join(t.name for t in self.tools)}")


def _about_messages(several: Calls) -> str:
    """Return what a model has to know of messages with several calls."""
    how = "side by side, in any order" if several.parallel else "one after the other"
    refused = "ends the message" if several.stops else "is left out"
    return (
        f"You may make up to {several.most} calls in one message. All of them are decided on the database as"
        f" it is now, and then carried out {how}; one that is not possible any more when its turn comes"
        f" {refused}. Decide on the next call of your message."
    )


def _json(data: object) -> str:
    """Return JSON on one line, with every character escaped that is invisible or ends a line."""
    return _UNSAFE.sub(_escaped, _encode(data))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _inner(text: str) -> str:
    """Return a text as inside the quotes of a JSON string."""
    return _json(text)[1:-1]


@lru_cache(maxsize=1 << 14)
def _names(values: tuple[Value, ...]) -> str:
    """Return names as a JSON list, cached because canonical contexts repeat the same few."""
    return _json(values)


@lru_cache(maxsize=1 << 14)
def _call(call: Call, params: tuple[str, ...]) -> str:
    """Return a call as JSON."""
    return _json({"name": call.tool, "arguments": dict(zip(params, call.args, strict=True))})
