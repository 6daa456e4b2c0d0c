"""Agents behind chat interfaces: any server that has `/chat/completions` with function tools.

The decision: such a model cannot be constrained to the offered calls token by token, so it is asked for a
function call, which is then checked. An answer that is no offered call is rejected with the reason, and
requested again, a bounded number of times. The record has the call, the text before it, and the
log-probability of the whole answer if the server reports it.

If the agent may put several calls into one message, the server is allowed them (`parallel_tool_calls`). Each
context asks for the next call of a message, so the first call of an answer is taken. The others are asked for
when it is written.

The identity of the agent is the address, the model's name, the sampling parameters and the complete prompt.
If another model is served under the same name, another store of decisions is needed.
"""

from __future__ import annotations

import base64
import math
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.in_flight import in_thread
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.prompts.texts import Template
from stead_sym.agents.recorded import Again, Asking, RecordedAgent
from stead_sym.agents.records.said import Given, is_logprob
from stead_sym.agents.records.store import Store
from stead_sym.errors import InputError, ModelError
from stead_sym.models.backends import CHAT_KIND
from stead_sym.models.connection import json_or_none, retry_after, words_on_error
from stead_sym.models.function_tools import Refused, called, check_names, function_tools
from stead_sym.models.tokenizer import library
from stead_sym.support.printable import one_line, without_credentials, without_secrets

EXTRA = "chat"
"""The extra of the package that has the client."""
ASKING = Asking(concurrency=16, tries=6, deadline=300.0)
"""The default parameters of queries to a chat."""

_MAX_ANSWERS = 3
"""The maximum number of answers that are requested for one offered call."""
_MAX_TOKENS = 4096
_MAX_PAUSE_SECONDS = 60.0
"""The longest pause; if a server requests a longer one, it is queried again after this time."""
_CONNECT_SECONDS = 2.0
"""The time in seconds for which a server that has never answered is tried."""
_REFUSING = {
    "logprobs": ("logprob",),
    "max_completion_tokens": ("max_completion_tokens", "max_tokens", "context length", "max_model_len"),
}
"""Options that a server may reject, with words that identify such a rejection."""
_MAX_ANSWER_BYTES = 1 << 20
"""The maximum size of an answer: 256 bytes for each token that it may have."""
_TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def chat_agent(
    address: str,
    prompt: Prompt,
    store: Store | Callable[[], Store] | None = None,
    asking: Asking | None = None,
    *,
    temperature: float | None = None,
    seed: int = 0,
) -> RecordedAgent:
    """Return the model of ``address``, `http://HOST/v1#MODEL` or the same with https, as a recorded agent.

    The environment variable OPENAI_API_KEY has the key for a server that requires one. ``temperature`` is 0
    by default, and 1 if ``asking`` has several samples; the samples have distinct seeds. Raise `InputError`
    for an invalid address and for names that no function can have, `ModelError` if the client is not
    installed.
    """
    asking = asking or ASKING
    heat = temperature if temperature is not None else 1.0 if asking.samples > 1 else 0.0
    return RecordedAgent(Chat(address, prompt, temperature=heat, seed=seed), store, asking)


class Chat:
    """A model behind a chat interface as a `Respondent`."""

    waits = True

    def __init__(self, address: str, prompt: Prompt, *, temperature: float = 0.0, seed: int = 0) -> None:
        """Create the client; see `chat_agent`."""
        url, _, model = address.partition("#")
        parts = _address(url)
        if not model:
            raise InputError(f"{_shown(parts)} is the address of a server; name the model too: {CHAT_KIND}")
        check_names(prompt.tools)
        self.texts = _with_tools(prompt)
        self.url = _shown(parts)
        self.name = f"openai:{self.url}#{model}"
        self.temperature, self.seed = temperature, seed
        self.identity: Mapping[str, str] = {
            "engine": "chat",
            "url": self.url,
            "model": model,
            "temperature": f"{temperature:g}",
            "seed": str(seed),
            "tokens": str(_MAX_TOKENS),
        }
        self._openai = library("openai", self.name, EXTRA)
        self.versions: Mapping[str, str] = {"openai": str(self._openai.__version__)}
        self._model = model
        self._optional: dict[str, object] = {"logprobs": True, "max_completion_tokens": _MAX_TOKENS}
        self._met = False
        self._first_failure: float | None = None
        key = os.environ.get("OPENAI_API_KEY") or None
        user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        basic = base64.b64encode(user.encode()).decode() if parts.username or parts.password else None
        password = parts.password or ""
        self._secrets = [part for part in (key, password, unquote(password), basic) if part]
        self._key = key or "none"
        self._headers = {"Authorization": f"Basic {basic}"} if basic else None
        self._opened: Any = None

    @property
    def _client(self) -> Any:
        """The client with its connections, opened for a batch of queries."""
        if self._opened is None:
            self._opened = self._openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self.url,
                # The decompressed length of a compressed answer is unbounded.
                default_headers={"Accept-Encoding": "identity", **(self._headers or {})},
                max_retries=0,
                timeout=self._openai.Timeout(600.0, connect=10.0),
                # Redirects are reported, not followed: the prompt is only for the named server.
                http_client=self._openai.DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"response": [_bounded]}
                ),
            )
        return self._opened

    async def rest(self) -> None:
        """Close the connections; see `recorded.Respondent`."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    def shown(self, context: DecisionContext) -> Any:
        """Return the function tools for a context."""
        return function_tools(context.calls, self.texts.tools)

    async def respond(self, context: DecisionContext, sample: int) -> Given:
        """Return the call for a context; see `recorded.Respondent`.

        A single offered call is returned without a query.
        """
        if len(context.calls) == 1:
            return Given(tuple(context.calls), "nothing else is offered")
        refused: list[str] = []
        while len(refused) < _MAX_ANSWERS:
            choice = await self._choice(context, refused, sample)
            message = choice["message"]
            try:
                if choice.get("finish_reason") == "length":
                    raise Refused("the answer is cut off: it is too long")
                made = called(message, context.calls, self.texts.tools, self._room(context))
            except Refused as why:
                refused.append(why.words(self._hidden))
            else:
                if len(made) > 1:  # the log-probability is of all of them
                    more = f"the first of {len(made)} calls in one message"
                    return Given(made[:1], "\n".join(filter(None, (more, self._note(message, refused)))))
                return Given(made, self._note(message, refused), _logprob(choice))
        raise ModelError(
            f"{self.name} makes no offered call in {_MAX_ANSWERS} answers: {refused[-1]}; use a model and a"
            f" server that call functions: it was asked about {context}"
        )

    async def _choice(self, context: DecisionContext, refused: Sequence[str], sample: int) -> dict[str, Any]:
        """Return the server's first choice.

        ``refused`` are the reasons for which earlier answers were rejected.
        """
        said = await self._post(
            {
                "model": self._model,
                "messages": _messages(self.texts.messages(context), refused),
                "tools": self.shown(context),
                "tool_choice": "required",
                "parallel_tool_calls": self._room(context) > 1,
                "temperature": self.temperature,
                "seed": self.seed + (sample if self.temperature else 0),
            }
        )
        match said:
            case {"choices": [{"message": {}}, *_]}:
                choice: dict[str, Any] = said["choices"][0]
                return choice
            case _:
                raise Again(ModelError(f"{self.name}: the answer is no chat completion; check the address"))

    def _room(self, context: DecisionContext) -> int:
        """Return the number of calls that the message may still get."""
        several = self.texts.several
        return 1 if several is None else several.most - len(self.texts.written(context.view))

    async def _post(self, body: dict[str, Any]) -> Any:
        """Return the JSON data of the answer; None if it is not JSON."""
        optional = dict(self._optional)
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body, **optional)
        except self._openai.APIStatusError as error:
            self._met = True
            response = error.response
            said = words_on_error(json_or_none(response.content))
            unwanted = {name for name in optional if any(word in said.lower() for word in _REFUSING[name])}
            if unwanted and response.status_code in (400, 422):
                self._optional = {n: value for n, value in self._optional.items() if n not in unwanted}
                return await self._post(body)
            raise self._failure(response.status_code, said, response.headers) from None
        except _Endless:
            raise ModelError(
                f"{self.name}: the answer has more than {_MAX_ANSWER_BYTES >> 20} MiB; name the address of a"
                f" server that keeps to the {_MAX_TOKENS} tokens that it is asked for"
            ) from None
        except (self._openai.APIConnectionError, _Unread) as error:
            reason = self._clean(str(error.__cause__ or error) or type(error).__name__)
            failure = ModelError(
                f"{self.name}: no answer: {reason}; start the server, or correct the address"
            )
            now = time.monotonic()
            self._first_failure = self._first_failure or now
            if not self._met and now - self._first_failure > _CONNECT_SECONDS:
                raise failure from None
            raise Again(failure) from None
        self._met = True
        return await in_thread(json_or_none, raw.content)

    def _failure(self, status: int, said: str, headers: Mapping[str, str]) -> Exception:
        """Return the exception for an error response, as a retryable one if it may be temporary."""
        words = f"{self.name}: {status}{': ' * bool(said)}{self._clean(said)}"
        if 300 <= status < 400:
            where = self._clean(headers.get("location", "nowhere"))
            return ModelError(f"{words}: the server sends to {where}; name the address that answers")
        if status in (401, 403):
            return ModelError(f"{words}; set OPENAI_API_KEY to a key for this server")
        if status == 404:
            return ModelError(f"{words}; correct the model's name, or the address: most end in /v1")
        if status not in _TEMPORARY:
            return ModelError(f"{words}; see the server's log")
        pause = retry_after(headers.get("retry-after"))
        asks = "" if pause is None else f" (it asks to wait {pause:g} s)"
        failure = ModelError(f"{words}{asks}; try later, or ask less at a time")
        return Again(failure, None if pause is None else min(pause, _MAX_PAUSE_SECONDS))

    def _note(self, message: Mapping[str, Any], refused: Sequence[str]) -> str:
        """Return the text that the model wrote besides its call, and the reasons of earlier rejections."""
        parts = [f"refused before: {why}" for why in refused]
        parts += [
            said
            for name in ("reasoning_content", "reasoning", "content")
            if isinstance(said := message.get(name), str) and said.strip()
        ]
        return without_secrets("\n".join(dict.fromkeys(parts)), self._secrets)

    def _clean(self, said: str) -> str:
        return one_line(self._hidden(said))

    def _hidden(self, said: str) -> str:
        return without_credentials(without_secrets(said, self._secrets))


class _Unread(Exception):
    """An error: an answer was not read to its end; the text has the reason."""


class _Endless(Exception):
    """An error: an answer exceeds the maximum size."""


async def _bounded(response: Any) -> None:
    """Bound a response of the client: raise `_Endless` if it is too long, `_Unread` if it is compressed."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise _Unread(f"the answer is compressed ({coding}), which was not asked for")
    pieces = response.aiter_raw

    async def bounded(*arguments: Any) -> AsyncIterator[bytes]:
        left = _MAX_ANSWER_BYTES
        async for piece in pieces(*arguments):
            left -= len(piece)
            if left < 0:
                raise _Endless
            yield piece

    response.aiter_raw = bounded


def _with_tools(prompt: Prompt) -> Prompt:
    """Return the prompt with the package's user message for agents with functions.

    It replaces the package's message for agents that write a line; a user's own file is kept.
    """
    if prompt.user.source != "user.txt":
        return prompt
    name = "chat.txt" if prompt.several is None else "chat_several.txt"
    own = files("stead_sym.agents.prompts").joinpath("templates", name).read_text(encoding="utf-8")
    return replace(prompt, user=Template(own.removesuffix("\n"), name))


def _messages(prompt: Sequence[Message], refused: Sequence[str]) -> list[dict[str, str]]:
    """Return the chat, with the rejections in the last message.

    Not every template supports an answer without a call, or two user messages in a row.
    """
    messages = [{"role": message.role, "content": message.content} for message in prompt]
    if refused:
        told = "".join(f"\nAn earlier answer was refused: {why}." for why in refused)
        messages[-1]["content"] += f"\n{told}\nMake exactly one of the possible calls."
    return messages


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.query
    except ValueError:
        sound = False
    if not sound:
        raise InputError(f"that is no address of a server with chats; write {CHAT_KIND}")
    return parts


def _shown(parts: SplitResult) -> str:
    """Return the address without user and password."""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl().rstrip("/")


def _logprob(choice: Mapping[str, Any]) -> float | None:
    """Return the total log-probability of the tokens of an answer; None if the server does not report it."""
    match choice.get("logprobs"):
        case {"content": [_, *_] as tokens}:
            said: list[Any] = [token.get("logprob") for token in tokens if isinstance(token, dict)]
            if len(said) == len(tokens) and all(map(is_logprob, said)):
                return math.fsum(said)
    return None
