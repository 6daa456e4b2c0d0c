"""Agents of three libraries behind a guard, run with a model that follows a script.

Each runs in two ways: the guard carries out `functions` in its transactions, as the guide has it, and
`existing` tools of the library open transactions of their own, slowly, so that calls of one message overlap
if nothing orders them. Libraries that are missing skip the tests; STEAD_ADAPTERS=required makes that an
error, and CI sets it.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pytest
import sqlalchemy as sa

import stead_sym as st
from pages import ROOT, blocks
from stead_sym.conformance.binding import Binding

Kind: TypeAlias = Literal["functions", "existing"]
Message: TypeAlias = Sequence[tuple[str, Mapping[str, object]]]
"""The calls that the model makes in one message."""
SLOWLY = 0.05  # seconds between the beginning of an existing tool and its transaction


@dataclass
class Talk:
    """The talk with a model: with each request the tools, and the answers to the calls so far."""

    script: Sequence[Message]
    tools: list[set[str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    errors: list[bool] = field(default_factory=list)

    def next(self, answers: Sequence[str], tools: set[str] | None = None) -> Message:
        """The calls of the next message, after the answers to the earlier ones; none at the end."""
        self.answers = list(answers)
        if tools is not None:
            self.tools.append(tools)
        turn = len(self.tools) - 1
        return self.script[turn] if turn < len(self.script) else ()


@dataclass
class Desk:
    """Functions, and the same as existing tools."""

    guard: st.Guard
    functions: Mapping[str, Callable[..., object]]
    bound: Binding

    def slowly(self, name: str, **arguments: object) -> object:
        """Carry a call out in a transaction of its own."""
        time.sleep(SLOWLY)
        engine = sa.create_engine(self.bound.database)
        try:
            with engine.begin() as connection:
                return self.functions[name](connection, **arguments)
        finally:
            engine.dispose()

    def existing(self) -> list[Callable[..., object]]:
        """The tools as functions with annotated arguments."""

        def approve(r: int, c: str) -> str:
            """Approve a refund."""
            return str(self.slowly("approve", r=r, c=c))

        def pay(r: int) -> str:
            """Pay a refund."""
            return str(self.slowly("pay", r=r))

        def drop_tables() -> str:
            """Drop all."""
            raise AssertionError("not of the deployment")

        return [approve, pay, drop_tables]


def of_the_guide(library: str) -> Callable[..., Any]:
    """Return the guide's function that makes an agent of a library; skip the test if that is missing."""
    if os.environ.get("STEAD_ADAPTERS") != "required":
        module = "agents.tool" if library == "agents" else library  # tests/agents is found as agents, too
        pytest.importorskip(module, reason=f"the library {library} is not installed")
    page = (ROOT / "docs" / "guides" / "guard.md").read_text(encoding="utf-8")
    [block] = [one for one in blocks(page) if one.title and f"\nfrom {library}" in f"\n{one.text}"]
    names: dict[str, Any] = {}
    exec(compile(block.text, block.title or "", "exec"), names)
    made: Callable[..., Any] = names["clerk"]
    return made


# LangChain


def langchain(desk: Desk, kind: Kind, talk: Talk, *, in_loop: bool = False, **options: Any) -> None:
    clerk = of_the_guide("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool

    from stead_sym.guard.adapters.langchain import GuardMiddleware

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools, **_):
            return self.model_copy(update={"metadata": {"shown": [one.name for one in tools]}})

        def _generate(self, messages, *_, **__):
            told = [message for message in messages if isinstance(message, ToolMessage)]
            talk.errors = [message.status == "error" for message in told]
            shown = set((self.metadata or {}).get("shown", ()))
            calls = talk.next([str(message.content) for message in told], shown)
            made = [
                {"name": name, "args": dict(arguments), "id": f"{len(talk.tools)}.{place}"}
                for place, (name, arguments) in enumerate(calls)
            ]
            said = AIMessage("" if made else "done", tool_calls=made)
            return ChatResult(generations=[ChatGeneration(message=said)])

    model = Scripted(messages=iter(()))
    if kind == "functions":
        agent = clerk(model, desk.guard, desk.functions)
    else:
        tools = list(map(tool, desk.existing()))
        agent = create_agent(model, tools, middleware=[GuardMiddleware(desk.guard, **options)])
    asked = {"messages": [{"role": "user", "content": "go on"}]}
    asyncio.run(agent.ainvoke(asked)) if in_loop else agent.invoke(asked)


# OpenAI Agents SDK


def openai_agents(desk: Desk, kind: Kind, talk: Talk, *, in_loop: bool = False) -> None:
    clerk = of_the_guide("agents")
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from stead_sym.guard.adapters.openai_agents import guard_tools

    class Scripted(Model):
        async def get_response(self, system_instructions, input, model_settings, tools, *_, **__):
            told = [item for item in input if item.get("type") == "function_call_output"]
            calls = talk.next([str(item["output"]) for item in told], {tool.name for tool in tools})
            output: list[Any] = [
                ResponseFunctionToolCall(
                    type="function_call",
                    name=name,
                    arguments=json.dumps(arguments),
                    call_id=f"{len(talk.tools)}.{place}",
                )
                for place, (name, arguments) in enumerate(calls)
            ]
            if not output:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                output = [
                    ResponseOutputMessage(
                        id="last", type="message", role="assistant", status="completed", content=[text]
                    )
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *_, **__):
            raise NotImplementedError

    if kind == "functions":
        agent = clerk(Scripted(), desk.guard, desk.functions)
    else:
        existing = [function_tool(each, failure_error_function=None) for each in desk.existing()]
        agent = Agent(name="clerk", model=Scripted(), tools=guard_tools(desk.guard, existing))
    plainly = RunConfig(tracing_disabled=True)
    if in_loop:
        asyncio.run(Runner.run(agent, "go on", run_config=plainly))
    else:
        Runner.run_sync(agent, "go on", run_config=plainly)


# Pydantic AI


def pydantic_ai(desk: Desk, kind: Kind, talk: Talk, *, in_loop: bool = False) -> None:
    clerk = of_the_guide("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    from stead_sym.guard.adapters.pydantic_ai import GuardedToolset

    def scripted(messages, info):
        parts = [part for message in messages for part in message.parts]
        told = [part for part in parts if part.part_kind in ("tool-return", "retry-prompt")]
        talk.errors = [not isinstance(part, ToolReturnPart) or part.outcome != "success" for part in told]
        calls = talk.next([str(part.content) for part in told], {tool.name for tool in info.function_tools})
        made = [ToolCallPart(name, dict(arguments)) for name, arguments in calls]
        return ModelResponse(parts=made or [TextPart("done")])

    model = FunctionModel(scripted)
    if kind == "functions":
        agent = clerk(model, desk.guard, desk.functions)
    else:
        agent = Agent(model, toolsets=[GuardedToolset(FunctionToolset(desk.existing()), desk.guard)])
    asyncio.run(agent.run("go on")) if in_loop else agent.run_sync("go on")


LIBRARIES = (langchain, openai_agents, pydantic_ai)
